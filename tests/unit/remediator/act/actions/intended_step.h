// The record of a step as the reconciler writes it before begin(). The tests of the steps put it
// into the status of a Remediation.
#pragma once

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

inline StepRecord intended_step(Step step, Severity severity, WallTime now, Facts facts) {
  return {.step = step,
          .result = StepResult::kIntended,
          .severity = severity,
          .intent_at = now,
          .finished_at = {},
          .attempts = 1,
          .message = {},
          .facts = std::move(facts)};
}

// The time that the step's clock shows if nothing has stopped it since its intent.
inline std::chrono::milliseconds ran_of(const Remediation& remediation, Step step, WallTime now) {
  const StepRecord* record = remediation.status.find(step);
  if (record == nullptr || !record->intent_at) return {};
  return std::chrono::floor<std::chrono::milliseconds>(now - *record->intent_at);
}

}  // namespace gpuward::remediator
