// Check 0, "nvidia-smi": does the driver answer, are all GPUs present, and what have they and the
// kernel log reported. It has the name of the program that the replaced suite ran, but reads only
// what the exporter knows.
#pragma once

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

[[nodiscard]] CheckEntry nvidia_smi_entry();

}  // namespace gpuward::exporter
