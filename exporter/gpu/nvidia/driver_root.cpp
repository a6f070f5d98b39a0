#include "exporter/gpu/nvidia/driver_root.h"

#include <array>
#include <string_view>
#include <system_error>

namespace gpuward::exporter::nvml {
namespace {

namespace fs = std::filesystem;

#ifdef __aarch64__
#define GPUWARD_MULTIARCH "aarch64-linux-gnu"
#else
#define GPUWARD_MULTIARCH "x86_64-linux-gnu"
#endif

// Folders that contain only libraries for this processor come first: `lib` may have 32-bit
// libraries. docs/install.md lists the platforms.
constexpr std::array<std::string_view, 7> kFolders = {
    "lib64",
    "lib/" GPUWARD_MULTIARCH,
    "lib/" GPUWARD_MULTIARCH "/nvidia/current",  // packages of Debian
    "lib",
    "lib/nvidia/tesla",  // Bottlerocket
    "glibc/usr/lib64",   // Talos, which has no glibc of its own
    "glibc/usr/lib",
};
constexpr std::array<std::string_view, 2> kPrefixes = {"usr", ""};

// A failed mount may have left a folder of that name.
bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

}  // namespace

std::string library_below(const fs::path& root, const std::string& name) {
  if (root.empty() || name.contains('/')) return name;
  for (const std::string_view prefix : kPrefixes) {
    for (const std::string_view folder : kFolders) {
      const fs::path path = root / prefix / folder / name;
      if (is_file(path)) return path.string();
    }
  }
  return name;
}

}  // namespace gpuward::exporter::nvml
