// Karpenter with its kwok provider and the definitions of its kinds, where `./dev deps --all` puts
// them.
#pragma once

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "tests/places.inc"
#include "tests/support/cache_folder.h"

namespace gpuward::support {

// Of the version that tests/karpenter/go.mod names.
[[nodiscard]] inline std::filesystem::path karpenter_folder() {
  static const std::regex kPin(R"(\tsigs\.k8s\.io/karpenter v([0-9.]+))");
  std::ostringstream pins;
  pins << std::ifstream(GPUWARD_SOURCE_DIR "/tests/karpenter/go.mod").rdbuf();
  const std::string text = pins.str();
  std::smatch found;
  return std::regex_search(text, found, kPin) ? cache_folder() / ("karpenter-" + found[1].str())
                                              : std::filesystem::path();
}

// Empty where both are there. For GPUWARD_REQUIRE.
[[nodiscard]] inline std::string why_no_karpenter() {
  return std::filesystem::exists(karpenter_folder() / "karpenter")
             ? ""
             : "no Karpenter on this machine: run `./dev deps --all`";
}

}  // namespace gpuward::support
