// A reading written as a scenario of the fake libnvidia-ml.so.1, so that the answers of a real
// driver can be replayed anywhere. Used by gpuward-nvml-capture, and by the test that compares the
// fake with it.
#pragma once

#include <string>

#include "exporter/gpu/report/reading.h"

namespace gpuward::fake_nvml {

// The lines of scenario.h for the whole report. The fake with these lines gives the same report,
// apart from the texts of faults.
[[nodiscard]] std::string to_scenario(const exporter::VendorReading& report);

}  // namespace gpuward::fake_nvml
