// `gpuward-remediator notify test [SINK]`: sends one event that says it is a test to each sink of
// the policy and of the environment, and says what came back, before it is needed at night.
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

// One try each, one after the other, each call within the sink's own time-out. The event is of no
// node and no Remediation, with error_type HEALTHY and dry_run, so that no receiver acts on it.
// kInvalid where the policy is wrong or has no sink, kNotFound where it has none of flags.sink's
// name.
[[nodiscard]] Result<SinkAnswers> run_notify_test(const Flags& flags, Clock& clock);

// Whether all sinks of `policy` can be opened; nobody is told anything.
[[nodiscard]] Status try_sinks(const Policy& policy);

}  // namespace gpuward::remediator
