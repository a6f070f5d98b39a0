#include "remediator/execution/step_clock.h"

#include <algorithm>

#include "remediator/decision/status_change.h"

namespace gpuward::remediator {

using std::chrono::milliseconds;

namespace {

// How old the answer may be whether the stop switch and the leadership let steps act.
constexpr milliseconds kPermitAge{5'000};

}  // namespace

milliseconds StepClock::look(const std::string& remediation, const StepRecord& record) {
  const std::lock_guard lock(mutex_);
  const auto known = runs_.find(remediation);
  if (known == runs_.end() || !known->second.is_of(record))
    return runs_.insert_or_assign(remediation, taken_over(record)).first->second.ran;
  Run& run = known->second;
  if (run.runs_since) {
    const auto since = std::chrono::floor<milliseconds>(clock_.steady() - *run.runs_since);
    if (since <= kLongestBetweenLooks) run.ran += since;
    run.runs_since.reset();
  }
  return run.ran;
}

// The leader before may have watched it for as long as the record was not written. Counted so,
// leaders that change every few seconds do not stop the clock.
StepClock::Run StepClock::taken_over(const StepRecord& record) const {
  const milliseconds kept = std::chrono::seconds(record.active_seconds);
  const auto under_way = record.intent_at
                             ? std::chrono::floor<milliseconds>(clock_.wall() - *record.intent_at)
                             : milliseconds(0);
  const milliseconds most = kept + kKeepsTimeEvery;
  return {.step = record.step,
          .intent_at = record.intent_at,
          .ran = std::max(kept, std::min(most, under_way)),
          .runs_since = {}};
}

void StepClock::look_ended(const std::string& remediation, bool has_answer) {
  const bool runs = has_answer && may_act();
  const std::lock_guard lock(mutex_);
  const auto known = runs_.find(remediation);
  if (runs && known != runs_.end()) known->second.runs_since = clock_.steady();
}

bool StepClock::may_act() {
  const std::lock_guard lock(permit_mutex_);
  const auto now = clock_.steady();
  if (!asked_at_ || now - *asked_at_ > kPermitAge) {
    is_permitted_ = permit_().has_value();
    asked_at_ = now;
  }
  return is_permitted_;
}

void StepClock::forget(const std::string& remediation) {
  const std::lock_guard lock(mutex_);
  runs_.erase(remediation);
}

}  // namespace gpuward::remediator
