// All commands of gpuward-exporter, in one table: a new one is a file and a line there. Named by
// main() only.
#pragma once

#include <span>

#include "exporter/config/flags.h"

namespace gpuward::exporter {

// In the order in which --help names them.
[[nodiscard]] std::span<const AddCommand> all_commands();

}  // namespace gpuward::exporter
