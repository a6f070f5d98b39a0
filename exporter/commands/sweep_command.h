// `gpuward-exporter sweep`: check 1 on idle GPU nodes, a few at a time (sweep.h). Flags, examples
// and main function of the command; used by the table of commands.
#pragma once

#include "exporter/commands/progress.h"
#include "exporter/commands/sweep.h"
#include "exporter/config/flags.h"

namespace gpuward::exporter {

struct SweepWishes {
  SweepOptions options;  // the environment overrides them
  ProgressWish progress = ProgressWish::kAuto;
};

// `wishes` must outlive the command.
CLI::App* add_sweep(CLI::App& app, SweepWishes& wishes);
void add_sweep_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
