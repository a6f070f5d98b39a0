// `gpuward-exporter amd-health get|inject`: what AMD's health service says of the GPUs, and errors
// that it shall pretend, for tests of what follows. In place of AMD's metricsclient.
#pragma once

#include "exporter/config/flags.h"

namespace gpuward::exporter {

void add_amd_health_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
