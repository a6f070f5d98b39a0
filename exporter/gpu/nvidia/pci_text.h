// The PCI address in an NVML answer. Used by the readers of identity, NVLink and events.
#pragma once

#include <optional>

#include "core/model/pci_address.h"
#include "exporter/gpu/nvidia/nvml_abi.h"

namespace gpuward::exporter::nvml {

// nullopt where NVML has filled in no address (all bits set).
[[nodiscard]] std::optional<PciAddress> address_from(const PciInfo& info);

}  // namespace gpuward::exporter::nvml
