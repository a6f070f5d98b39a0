#include "remediator/act/step_clock.h"

#include <algorithm>

#include "remediator/decide/status_change.h"

namespace gpuward::remediator {

using std::chrono::milliseconds;

namespace {

// How old the answer of the permit (stop switch and leadership) may be.
constexpr milliseconds kPermitAge{5'000};

}  // namespace

WatchedTime StepClock::look(const std::string& remediation, const StepRecord& record) {
  const std::lock_guard lock(mutex_);
  auto known = runs_.find(remediation);
  if (known == runs_.end() || !known->second.is_of(record)) {
    known = runs_.insert_or_assign(remediation, taken_over(record)).first;
  } else {
    count(known->second, record);
  }
  known->second.looked_at = clock_.steady();
  return known->second.time;
}

void StepClock::count(Run& run, const StepRecord& record) const {
  if (std::chrono::seconds(record.active_seconds) >=
      std::chrono::floor<std::chrono::seconds>(run.taken_over_at))
    run.time.unwatched = milliseconds(0);
  if (!run.runs_since) return;
  const auto since = std::chrono::floor<milliseconds>(clock_.steady() - *run.runs_since);
  if (since <= kLongestBetweenLooks) run.time.ran += since;
  run.runs_since.reset();
}

StepClock::Run StepClock::run_of(const StepRecord& record, WatchedTime time) {
  return {.step = record.step,
          .intent_at = record.intent_at,
          .attempts = record.attempts,
          .time = time,
          .taken_over_at = time.ran,
          .looked_at = {},
          .runs_since = {}};
}

// The leader before may have watched it for as long as the record was not written. That time is
// counted, so that leaders that change every few seconds do not stop the clock.
StepClock::Run StepClock::taken_over(const StepRecord& record) const {
  const milliseconds kept = std::chrono::seconds(record.active_seconds);
  const auto under_way = record.intent_at
                             ? std::chrono::floor<milliseconds>(clock_.wall() - *record.intent_at)
                             : milliseconds(0);
  const milliseconds most = kept + kKeepsTimeEvery;
  const milliseconds ran = std::max(kept, std::min(most, under_way));
  return run_of(record, {.ran = ran, .unwatched = ran - kept});
}

void StepClock::look_ended(const std::string& remediation, bool has_answer) {
  const bool runs = has_answer && may_act();
  const std::lock_guard lock(mutex_);
  const auto known = runs_.find(remediation);
  if (known == runs_.end() || !known->second.looked_at) return;
  Run& run = known->second;
  const auto now = clock_.steady();
  const auto lasted = std::chrono::floor<milliseconds>(now - *run.looked_at);
  run.looked_at.reset();
  if (!runs) return;
  if (lasted <= kLongestLook) run.time.ran += lasted;
  run.runs_since = now;
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

void StepClock::restart(const std::string& remediation, const StepRecord& record) {
  const std::lock_guard lock(mutex_);
  runs_.insert_or_assign(remediation, run_of(record, {}));
}

void StepClock::forget(const std::string& remediation) {
  const std::lock_guard lock(mutex_);
  runs_.erase(remediation);
}

void StepClock::forget_all() {
  const std::lock_guard lock(mutex_);
  runs_.clear();
}

}  // namespace gpuward::remediator
