// The hwmon and PCI attributes of a GPU: temperatures, limits, power, clocks, its link. Used by
// read_device().
#pragma once

#include <filesystem>

#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::amd {

// Fills in the values of the GPU's hwmon folder; the others stay unchanged.
void read_hwmon(const std::filesystem::path& device, GpuReading& reading);

// Reads speeds, widths and replays. Never touches pcie_bw: that read blocks for a second (MI250).
[[nodiscard]] Pcie read_pcie(const std::filesystem::path& device);

}  // namespace gpuward::exporter::amd
