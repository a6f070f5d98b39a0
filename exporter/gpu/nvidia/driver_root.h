// Finds a library of NVIDIA's driver below the driver's own root folder. GKE and the GPU Operator's
// driver container have such a folder, which the loader does not search. Used by NvmlLibrary each
// time it opens the library, because the driver may come or change meanwhile.
#pragma once

#include <filesystem>
#include <string>

namespace gpuward::exporter::nvml {

// The path of the file, opened by path because such a folder may have a C library of its own, which
// no LD_LIBRARY_PATH may name. `name` itself if no root is given, the root does not have the file,
// or `name` is a path.
[[nodiscard]] std::string library_below(const std::filesystem::path& root, const std::string& name);

}  // namespace gpuward::exporter::nvml
