// A reading written down as a scenario of the fake libnvidia-ml.so.1: what a real driver has said
// can then be played again anywhere. Used by gpuward-nvml-capture, and by the test that holds the
// fake to it.
#pragma once

#include <string>

#include "exporter/gpu/report/reading.h"

namespace gpuward::fake_nvml {

// The lines of scenario.h for all that the report has. Reading the fake with them gives the report
// again, but for the words of faults.
[[nodiscard]] std::string to_scenario(const exporter::VendorReading& report);

}  // namespace gpuward::fake_nvml
