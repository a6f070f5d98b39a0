// Finds a library of NVIDIA's driver below the driver's root folder. GKE and the GPU Operator's
// driver container have one, and the loader does not search it. NvmlLibrary uses it each time it
// opens the library, because the driver may appear or change meanwhile.
#pragma once

#include <filesystem>
#include <string>

namespace gpuward::exporter::nvml {

// Returns the path of the file. It is opened by path, because the folder may have its own C
// library, so LD_LIBRARY_PATH must not contain it. Returns `name` if no root is given, if the root
// lacks the file, or if `name` is a path.
[[nodiscard]] std::string library_below(const std::filesystem::path& root, const std::string& name);

}  // namespace gpuward::exporter::nvml
