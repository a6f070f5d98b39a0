// The folder for the programs without a Debian package, which tests/neighbours fills. Used by tests
// that start one.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace gpuward::support {

// $GPUWARD_CACHE, or ~/.cache/gpuward.
[[nodiscard]] inline std::filesystem::path cache_folder() {
  const char* const given = std::getenv("GPUWARD_CACHE");
  if (given != nullptr && *given != '\0') return given;
  const char* const home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "" : home) / ".cache/gpuward";
}

}  // namespace gpuward::support
