// `gpuward-remediator notify test [SINK]`: sends one test event to each sink of the policy and of
// the environment, and prints the answers, so that faults are found before an alert.
#pragma once

#include <string>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/config/flags.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

struct SinkAnswers {
  std::string table;  // a line for each sink
  bool all_taken = true;
};

// Tries each sink once, one after the other, each call within the sink's own time-out. The event
// has no node and no Remediation, error_type HEALTHY and dry_run, so that no receiver acts on it.
// kInvalid if the policy is wrong or has no sink, kNotFound if it has no sink with the name
// flags.sink.
[[nodiscard]] Result<SinkAnswers> run_notify_test(const Flags& flags, Clock& clock);

// Returns whether all sinks of `policy` can be opened. Sends nothing.
[[nodiscard]] Status try_sinks(const Policy& policy);

}  // namespace gpuward::remediator
