// `gpuward-exporter config schema`: prints the JSON Schema of the file of --config.file, from which
// editors complete and check it.
#pragma once

#include "exporter/config/flags.h"

namespace gpuward::exporter {

void add_config_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
