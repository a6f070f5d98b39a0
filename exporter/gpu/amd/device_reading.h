// Reads all that sysfs has about one AMD GPU; missing values are absent. Used by SysfsLibrary, on
// the worker's main thread.
#pragma once

#include <functional>
#include <string_view>

#include "exporter/gpu/amd/devices.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::amd {

// Called before each part for which the driver may have to access the GPU ("ras").
using PartProgress = std::function<void(std::string_view part)>;

// The caller sets the index. A value that a file lacks now is absent, and is read again at the next
// reading: nothing is remembered.
[[nodiscard]] GpuReading read_device(const Device& device, const PartProgress& progress);

}  // namespace gpuward::exporter::amd
