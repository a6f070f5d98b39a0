// Check 0, "nvidia-smi": does the driver answer, are all GPUs there, what have they and the kernel
// log said. Named after the program that the replaced suite ran; asks nobody but the exporter.
#pragma once

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

[[nodiscard]] CheckEntry nvidia_smi_entry();

}  // namespace gpuward::exporter
