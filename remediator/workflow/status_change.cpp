#include "remediator/workflow/status_change.h"

#include <algorithm>
#include <utility>

namespace gpuward::remediator {
namespace {

std::vector<Step> steps_of(const Decision& decision) {
  if (decision.verdict == Verdict::kRelease) return {Step::kReturn};
  return decision.steps;
}

StepRecord& record_of(RemediationStatus& status, Step step) {
  const auto found = std::find_if(status.steps.begin(), status.steps.end(),
                                  [&](const StepRecord& record) { return record.step == step; });
  if (found != status.steps.end()) return *found;
  StepRecord& added = status.steps.emplace_back();
  added.step = step;
  return added;
}

// A node that is quarantined anew is no longer about to return.
void forget_return(RemediationStatus& status, const Decision& decision) {
  if (decision.verdict != Verdict::kQuarantine) return;
  std::erase_if(status.steps,
                [](const StepRecord& record) { return record.step == Step::kReturn; });
}

void say(RemediationStatus& status, const Decision& decision, Mode mode) {
  status.mode = mode;
  status.rule = decision.rule;
  status.message = decision.message;
  status.reasons = decision.reasons;
}

}  // namespace

RemediationStatus with_decision(RemediationStatus status, const Decision& decision, Mode mode,
                                WallTime now) {
  say(status, decision, mode);
  status.phase = decision.phase;
  if (!is_open(status.phase) && !status.closed_at) status.closed_at = now;
  // A return that was carried out before a crash is found to be done on the node itself.
  for (StepRecord& record : status.steps) {
    if (status.phase != Phase::kReleased || record.step != Step::kReturn) continue;
    if (record.result != StepResult::kDone) record.finished_at = now;
    record.result = StepResult::kDone;
  }
  return status;
}

RemediationStatus with_intents(RemediationStatus status, const Decision& decision, Mode mode,
                               WallTime now) {
  say(status, decision, mode);
  forget_return(status, decision);
  for (const Step step : steps_of(decision)) {
    StepRecord& record = record_of(status, step);
    record.result = StepResult::kIntended;
    record.intent_at = now;
    record.finished_at.reset();
    record.message = decision.message;
    ++record.attempts;
  }
  return status;
}

RemediationStatus with_results(RemediationStatus status, const Decision& decision, Mode mode,
                               WallTime now) {
  forget_return(status, decision);
  for (const Step step : steps_of(decision)) {
    StepRecord& record = record_of(status, step);
    if (record.result == StepResult::kDone) continue;
    record.result = StepResult::kDone;
    record.finished_at = now;
  }
  return with_decision(std::move(status), decision, mode, now);
}

RemediationStatus with_failure(RemediationStatus status, const std::string& error, WallTime now) {
  for (StepRecord& record : status.steps) {
    if (record.result != StepResult::kIntended) continue;
    record.result = StepResult::kFailed;
    record.finished_at = now;
    record.message = error;
  }
  return status;
}

bool says_the_same(const RemediationStatus& a, const RemediationStatus& b) {
  const auto timeless = [](RemediationStatus status) {
    for (StepRecord& record : status.steps) {
      record.intent_at.reset();
      record.finished_at.reset();
      record.attempts = 0;
    }
    status.closed_at.reset();
    return status;
  };
  return timeless(a) == timeless(b);
}

}  // namespace gpuward::remediator
