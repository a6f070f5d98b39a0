// Where GPUs are that cannot say so themselves: one that is lost when the library is opened has no
// PCI address, and without one it has no series and nobody else can say anything of it. The PCI bus
// tells, where only one answer is possible. Used by NvmlLibrary.
#pragma once

#include <string>
#include <vector>

#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::nvml {

// The GPUs that the kernel has bound to NVIDIA's driver, ascending; empty where the tree does not
// say. Reads what the kernel keeps in memory, and asks no device.
[[nodiscard]] std::vector<PciAddress> gpus_of_driver(const std::string& sys);

// Gives those without an address the places that are left: where that is one, or where they are all
// lost and as many as the places, so that it makes no difference which is which.
void place_gpus(const std::vector<PciAddress>& on_bus, std::vector<GpuReading>& gpus);

}  // namespace gpuward::exporter::nvml
