// A check that runs a program of the operator, from checks.programs, with the exit codes of
// node-problem-detector's plug-ins. Used by the table of the checks.
#pragma once

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

// Returns a check that runs at the program's own interval and belongs to no suite.
[[nodiscard]] CheckEntry program_entry(const ProgramSettings& program);

}  // namespace gpuward::exporter
