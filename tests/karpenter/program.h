// Karpenter with its kwok provider and the definitions of its kinds, at the path where `./dev deps
// --all` puts them.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/neighbours.h"

namespace gpuward::support {

[[nodiscard]] inline std::filesystem::path karpenter_folder() { return folder_of(kKarpenter); }

// Empty if both are there. For GPUWARD_REQUIRE.
[[nodiscard]] inline std::string why_no_karpenter() {
  return why_not_built(kKarpenter, "karpenter");
}

}  // namespace gpuward::support
