// `gpuward-exporter check`: runs checks of the suite now (run_checks.h). Flags, examples and main
// function of the command; used by the table of commands.
#pragma once

#include "exporter/commands/check_selection.h"
#include "exporter/config/flags.h"

namespace gpuward::exporter {

// `request` must outlive the command.
CLI::App* add_check(CLI::App& app, CheckRequest& request);
void add_check_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
