// `gpuward-exporter sweep`: check 1 on idle GPU nodes, a few at a time (sweep.h). Its flags, its
// examples and what runs; named by the table of commands.
#pragma once

#include "exporter/commands/progress.h"
#include "exporter/commands/sweep.h"
#include "exporter/config/flags.h"

namespace gpuward::exporter {

struct SweepWishes {
  SweepOptions options;  // the environment on top
  ProgressWish progress = ProgressWish::kAuto;
};

// `wishes` has to outlive the command.
CLI::App* add_sweep(CLI::App& app, SweepWishes& wishes);
void add_sweep_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
