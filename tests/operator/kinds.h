// The prometheus-operator and its kinds, where `./dev deps --all` puts them.
#pragma once

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "tests/places.inc"
#include "tests/support/cache_folder.h"

namespace gpuward::support {

// Of the version that tests/operator/go.mod names.
[[nodiscard]] inline std::filesystem::path operator_folder() {
  static const std::regex kPin(R"(/prometheus-operator v([0-9.]+))");
  std::ostringstream pins;
  pins << std::ifstream(GPUWARD_SOURCE_DIR "/tests/operator/go.mod").rdbuf();
  const std::string text = pins.str();
  std::smatch found;
  return std::regex_search(text, found, kPin)
             ? cache_folder() / ("prometheus-operator-" + found[1].str())
             : std::filesystem::path();
}

// Empty where both are there. For GPUWARD_REQUIRE.
[[nodiscard]] inline std::string why_no_operator() {
  return std::filesystem::exists(operator_folder() / "operator")
             ? ""
             : "no prometheus-operator on this machine: run `./dev deps --all`";
}

}  // namespace gpuward::support
