// Everything that sysfs says of one AMD GPU; what it does not say is absent. Used by SysfsLibrary,
// on the worker's main thread.
#pragma once

#include <functional>
#include <string_view>

#include "exporter/gpu/amd/devices.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::amd {

// Called before each part that the driver may have to ask the GPU for ("ras").
using PartProgress = std::function<void(std::string_view part)>;

// The index is the caller's to give. What a file does not say now is absent now, and asked for
// again at the next reading: nothing is remembered.
[[nodiscard]] GpuReading read_device(const Device& device, const PartProgress& progress);

}  // namespace gpuward::exporter::amd
