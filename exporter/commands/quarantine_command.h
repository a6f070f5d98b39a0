// `gpuward-exporter quarantine`: checks 4 and 6 on this cordoned node (quarantine.h). Flags,
// examples and main function of the command; used by the table of commands.
#pragma once

#include <vector>

#include "exporter/commands/progress.h"
#include "exporter/config/flags.h"

namespace gpuward::exporter {

struct QuarantineWishes {
  std::vector<int> checks{4, 6};
  bool is_forced = false;       // the node need not be cordoned
  bool clears_latched = false;  // if it passes
  ProgressWish progress = ProgressWish::kAuto;
};

// `wishes` must outlive the command.
CLI::App* add_quarantine(CLI::App& app, QuarantineWishes& wishes);
void add_quarantine_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
