// All vendors' libraries, in the order in which they are read. A new vendor is a folder and a line.
#include <array>

#include "exporter/gpu/amd/amd_library.h"
#include "exporter/gpu/nvidia/nvml_library.h"
#include "exporter/gpu/report/library.h"

namespace gpuward::exporter {
namespace {

constinit const std::array<LibraryEntry, 2> kLibraries{{
    {"nvidia", make_nvml_library},
    {"amd", make_amd_library},
}};

}  // namespace

std::span<const LibraryEntry> gpu_libraries() { return kLibraries; }

}  // namespace gpuward::exporter
