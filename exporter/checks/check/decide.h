// From what a check has found to what the node says of it. Pure; called by the runner, the check
// command and the rules on GPU readings.
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

// Fails from reset up, warns for monitor. An error is an error, but a failure that was found beside
// it wins; and a run that could not tell leaves what it takes nothing away from standing:
// `standing` are the findings that the store has of this check (check_findings()).
[[nodiscard]] CheckResult decide_status(CheckOutcome outcome, std::string_view check,
                                        const RunTimes& times,
                                        const std::vector<Finding>& standing = {});

// The findings of `check` that still stand: those at severity none are memories of another boot.
[[nodiscard]] std::vector<Finding> check_findings(const State& state, std::string_view check);

}  // namespace gpuward::exporter
