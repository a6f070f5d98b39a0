// The exporter's own reader of NVML, on the fake library and without a watcher of its progress.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "exporter/gpu/nvidia/nvml_library.h"
#include "tests/fakes/nvml/fake_nvml.h"

namespace gpuward::exporter {

inline void ignore_progress(std::string_view) {}

inline std::unique_ptr<GpuLibrary> make_library(
    const std::string& path = fake_nvml::FakeNvml::library(), const std::string& sys = "/nowhere") {
  LibraryPaths paths;
  paths.nvml = path;
  paths.sys = sys;
  return make_nvml_library(paths);
}

inline VendorReading read_once(const std::string& path = fake_nvml::FakeNvml::library()) {
  return make_library(path)->read(ignore_progress);
}

}  // namespace gpuward::exporter
