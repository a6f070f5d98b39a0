// NVIDIA's GPUs through NVML, loaded at run time: what the worker process asks. Stands in the table
// of vendors (exporter/gpu/all.cpp).
#pragma once

#include <memory>

#include "exporter/gpu/report/library.h"

namespace gpuward::exporter {

// Some things change rarely or never: the peer-to-peer matrix, the other ends of links, what a
// board keeps for life, its thresholds and limits. They are asked at the first reading after the
// library was opened, and at each of this number after; the reports between carry the last answer.
constexpr unsigned kThoroughEvery = 20;

// Opens paths.nvml at the first read(), and again when the driver was unloaded or upgraded.
[[nodiscard]] std::unique_ptr<GpuLibrary> make_nvml_library(const LibraryPaths& paths);

}  // namespace gpuward::exporter
