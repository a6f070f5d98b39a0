// NVIDIA's GPUs through NVML, loaded at run time by the worker process. Listed in the table of
// vendors (exporter/gpu/all.cpp).
#pragma once

#include <memory>

#include "exporter/gpu/report/library.h"

namespace gpuward::exporter {

// Some values change rarely or never: the peer-to-peer matrix, the other ends of links, a board's
// permanent data, its thresholds and limits. They are read at the first reading after the library
// was opened, and then at each reading of this number; the reports between repeat the last values.
constexpr unsigned kThoroughEvery = 20;

// Opens paths.nvml at the first read(), and again after the driver was unloaded or upgraded.
[[nodiscard]] std::unique_ptr<GpuLibrary> make_nvml_library(const LibraryPaths& paths);

}  // namespace gpuward::exporter
