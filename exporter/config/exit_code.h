// The exit codes of gpuward-exporter's commands, and how a command reports why it could not start.
// For main() and the commands; scripts and Jobs read these numbers (docs/checks.md).
#pragma once

#include "core/model/result.h"

namespace gpuward::exporter {

enum ExitCode : int {
  kDone = 0,
  kFailed = 1,       // a check has failed
  kWrongUsage = 2,   // wrong flags or configuration, or a wrong name in them
  kCouldNotTell = 3  // no check has failed, but one was inconclusive
};

// Prints the error on stderr.
[[nodiscard]] ExitCode complain(const Error& error);

}  // namespace gpuward::exporter
