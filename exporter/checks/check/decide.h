// Turns the outcome of a check into its result. Pure; called by the runner, the check command and
// the rules on GPU readings.
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

struct RunTimes {
  WallTime started;
  std::chrono::milliseconds duration{0};
};

// A finding of reset or above fails the check, and one of monitor gives a warning. An error stays
// an error, unless the run also found a failure. A run that could not examine a part leaves the
// findings of that part unchanged: `standing` are the findings that the store has of this check
// (check_findings()).
[[nodiscard]] CheckResult decide_status(CheckOutcome outcome, std::string_view check,
                                        const RunTimes& times,
                                        const std::vector<Finding>& standing = {});

// Returns the findings of `check` that are still open. Those of severity none are only remembered
// from an earlier boot.
[[nodiscard]] std::vector<Finding> check_findings(const State& state, std::string_view check);

}  // namespace gpuward::exporter
