// `gpuward-exporter amd-health get|inject`: the health of the GPUs by AMD's health service, and
// simulated errors for tests of the reaction to them. Replaces AMD's metricsclient.
#pragma once

#include "exporter/config/flags.h"

namespace gpuward::exporter {

void add_amd_health_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
