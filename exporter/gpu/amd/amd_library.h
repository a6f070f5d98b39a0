// AMD's GPUs for the GPU worker, without ROCm: amdgpu's files in sysfs, and libamd_smi for the
// little that they lack: error records, on some nodes error counts. Listed in exporter/gpu/all.cpp.
#pragma once

#include <memory>

#include "exporter/gpu/report/library.h"

namespace gpuward::exporter {

// `paths.amd_smi` empty: libamd_smi is never loaded.
[[nodiscard]] std::unique_ptr<GpuLibrary> make_amd_library(const LibraryPaths& paths);

}  // namespace gpuward::exporter
