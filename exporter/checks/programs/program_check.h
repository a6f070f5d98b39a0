// A program of the operator's as a check: what checks.programs adds, with the exit codes of
// node-problem-detector's plug-ins. Used by the table of the checks.
#pragma once

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

// Runs at the program's own interval, in no suite.
[[nodiscard]] CheckEntry program_entry(const ProgramSettings& program);

}  // namespace gpuward::exporter
