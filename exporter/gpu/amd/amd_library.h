// AMD's GPUs for the GPU worker, without ROCm: amdgpu's files in sysfs, and libamd_smi for the few
// values that sysfs lacks: error records and, on some nodes, error counts. Listed in
// exporter/gpu/all.cpp.
#pragma once

#include <memory>

#include "exporter/gpu/report/library.h"

namespace gpuward::exporter {

// If `paths.amd_smi` is empty, libamd_smi is never loaded.
[[nodiscard]] std::unique_ptr<GpuLibrary> make_amd_library(const LibraryPaths& paths);

}  // namespace gpuward::exporter
