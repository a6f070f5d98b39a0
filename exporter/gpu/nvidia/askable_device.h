// A GPU with its NVML handle, which queries about peers and events need. Valid while the session
// that created it lives. Used by nvml_library.cpp and xid_events.h.
#pragma once

#include <cstdint>
#include <string>

#include "exporter/gpu/nvidia/nvml_abi.h"

namespace gpuward::exporter::nvml {

struct AskableDevice {
  std::uint32_t index = 0;
  Device device = nullptr;
  std::string pci_bus_id;  // for Progress and for Xids

  bool operator==(const AskableDevice&) const = default;
};

}  // namespace gpuward::exporter::nvml
