// --progress of the commands that take long, and what it comes to on a terminal. Used by sweep and
// quarantine.
#pragma once

#include "exporter/commands/progress.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls it so
class App;
}

namespace gpuward::exporter {

// `progress` has to outlive the command.
void add_progress_flag(CLI::App& command, ProgressWish& progress);
// As wished, on this process's stderr.
[[nodiscard]] ProgressStyle progress_on_stderr(ProgressWish wish);

}  // namespace gpuward::exporter
