// `gpuward-exporter self-test`: reads the GPUs as the exporter does, asks nvidia-smi for the same
// values, and prints both with a verdict: the acceptance test of a machine, and a table for a bug
// report.
#pragma once

#include "exporter/config/flags.h"

namespace gpuward::exporter {

// Exits with 0: nothing differs; 1: a value differs; 2: there is no NVML to read.
void add_self_test_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
