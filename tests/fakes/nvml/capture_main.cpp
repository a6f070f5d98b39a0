// gpuward-nvml-capture [LIBRARY]: reads the NVIDIA driver of this machine once and prints the
// reading as a scenario for the fake library, so that tests can use a machine with GPUs as a
// fixture. Replaces serial numbers and UUIDs; the rest is the driver's data.
#include <iostream>
#include <string>

#include "exporter/gpu/nvidia/nvml_library.h"
#include "tests/fakes/nvml/scenario_text.h"

namespace {

using gpuward::exporter::LibraryPaths;
using gpuward::exporter::LibraryState;
using gpuward::exporter::VendorReading;

void hide_numbers(VendorReading& report) {
  for (auto& reading : report.gpus) {
    const std::string index = std::to_string(reading.gpu.index);
    reading.gpu.uuid = "GPU-00000000-0000-0000-0000-" + std::string(12 - index.size(), '0') + index;
    if (!reading.gpu.serial.empty()) reading.gpu.serial = std::string(10, '0') + index;
  }
}

}  // namespace

int main(int argc, char** argv) {
  LibraryPaths paths;
  if (argc > 1) paths.nvml = argv[1];
  const auto library = gpuward::exporter::make_nvml_library(paths);
  VendorReading report = library->read([](std::string_view) {});
  if (report.state != LibraryState::kReady) {
    std::cerr << paths.nvml << ": "
              << (report.state == LibraryState::kAbsent ? "not on this machine" : report.fault)
              << "\n";
    return 1;
  }
  hide_numbers(report);
  std::cout << "# Read by gpuward-nvml-capture from driver " << report.driver_version << ".\n"
            << gpuward::fake_nvml::to_scenario(report);
  return 0;
}
