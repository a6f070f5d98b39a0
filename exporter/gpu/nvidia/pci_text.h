// The PCI address in an NVML result: of the GPU itself or of the other end of a link. Used by the
// readers of identity and NVLink.
#pragma once

#include <optional>

#include "core/model/pci_address.h"
#include "exporter/gpu/nvidia/nvml_abi.h"

namespace gpuward::exporter::nvml {

// nullopt if NVML has filled in no address (all bits set).
[[nodiscard]] std::optional<PciAddress> address_from(const PciInfo& info);

}  // namespace gpuward::exporter::nvml
