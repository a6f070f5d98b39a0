// All commands of gpuward-exporter, in one table: a new command is a file and a line there. Used by
// main() only.
#pragma once

#include <span>

#include "exporter/config/flags.h"

namespace gpuward::exporter {

// Returns the commands in the order of --help.
[[nodiscard]] std::span<const AddCommand> all_commands();

}  // namespace gpuward::exporter
