// What a command of gpuward-exporter ends with, and how it says why it could not begin. For main()
// and the commands; scripts and Jobs read these numbers (docs/checks.md).
#pragma once

#include "core/model/result.h"

namespace gpuward::exporter {

enum ExitCode : int {
  kDone = 0,
  kFailed = 1,       // of checks: one has failed
  kWrongUsage = 2,   // flags, configuration, what they name
  kCouldNotTell = 3  // of checks: none has failed, but one could not run to its end
};

// On stderr.
[[nodiscard]] ExitCode complain(const Error& error);

}  // namespace gpuward::exporter
