// `gpuward-exporter config schema`: prints the JSON Schema for the file of --config.file, which
// editors use for completion and checks.
#pragma once

#include "exporter/config/flags.h"

namespace gpuward::exporter {

void add_config_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
