// Names of AMD's data centre GPUs by their PCI ids, for boards whose own data is empty. Used by
// read_device().
#pragma once

#include <cstdint>
#include <string>

namespace gpuward::exporter::amd {

// By PCI device number; "AMD GPU 0x74a1" for one that is not in the table.
[[nodiscard]] std::string product_name(std::uint64_t device);

}  // namespace gpuward::exporter::amd
