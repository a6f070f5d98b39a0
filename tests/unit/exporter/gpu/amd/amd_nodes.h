// The paths of the fake AMD nodes and of the fake libamd_smi. Used by the tests of this folder.
#pragma once

#include <filesystem>
#include <string>

#include "exporter/gpu/amd/amd_library.h"
#include "tests/places.inc"

namespace gpuward::exporter {

[[nodiscard]] inline std::string amd_scenario(const std::string& name) {
  return std::string(GPUWARD_SOURCE_DIR "/tests/testdata/invented/amd/") + name + ".conf";
}

[[nodiscard]] inline std::string fake_amd_smi() {
  return (std::filesystem::path(GPUWARD_BIN_DIR).parent_path() / "lib/fakes/libamd_smi.so.26")
      .string();
}

// The same library without the function that returns error records.
[[nodiscard]] inline std::string fake_amd_smi_without_cper() {
  return (std::filesystem::path(GPUWARD_BIN_DIR).parent_path() /
          "lib/fakes/libamd_smi_without_cper.so")
      .string();
}

// Reads a tree once, without libamd_smi unless it is named.
[[nodiscard]] inline VendorReading read_amd(const std::string& sys,
                                            const std::string& amd_smi = {}) {
  const auto library = make_amd_library({.nvml = "", .amd_smi = amd_smi, .sys = sys});
  return library->read([](std::string_view) {});
}

}  // namespace gpuward::exporter
