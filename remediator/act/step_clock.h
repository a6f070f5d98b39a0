// The clock of a running step. It counts only time in which a leader watched the step and the step
// could act. The clock stops during a pause, an exclusion, the stop switch, a lower mode, an API
// server without answers, and the absence of a leader. Every time limit of a step uses it. Delays
// and windows of the policy use the wall clock. Used by step_execution.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/model/permit.h"
#include "core/runtime/clock.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Longest time between two checks that counts. Checks of a running step are at most a minute apart
// (ControllerOptions); a longer time, as after a pause, is not counted.
inline constexpr std::chrono::minutes kLongestBetweenLooks{2};
// Longest check that counts. A check lasts at most as long as an operator's program may
// (machines.timeout); a longer check, as on a suspended machine, is not counted.
inline constexpr std::chrono::minutes kLongestLook{11};

struct WatchedTime {
  std::chrono::milliseconds ran{0};  // Includes `unwatched`.
  // Time that this replica did not watch and the record did not have when this replica took over.
  // The previous leader may have watched it. 0 once a record has that time.
  std::chrono::milliseconds unwatched{0};
};

// The clocks of all running steps. Any thread may call it, but for one Remediation at a time.
class StepClock {
 public:
  // `permit` returns why nothing may be changed right now; it is called at most every 5 s.
  StepClock(Clock& clock, Permit permit) : clock_(clock), permit_(std::move(permit)) {}

  // Returns how long the step of `record` has run. The caller calls it once, at the start of a
  // check.
  [[nodiscard]] WatchedTime look(const std::string& remediation, const StepRecord& record);
  // Ends the check. The time until the next check counts if there was an answer and the step may
  // act.
  void look_ended(const std::string& remediation, bool has_answer);
  // Restarts the step of `record` under its old intent.
  void restart(const std::string& remediation, const StepRecord& record);
  void forget(const std::string& remediation);
  // Forgets all clocks, because this replica becomes leader and another replica may have led since
  // its last check.
  void forget_all();

 private:
  struct Run {
    Step step = Step::kTaint;
    std::optional<WallTime> intent_at;
    int attempts = 0;
    WatchedTime time;
    std::chrono::milliseconds taken_over_at{0};  // `ran` at the takeover.
    std::optional<Clock::Steady> looked_at;      // Start of the current check.
    std::optional<Clock::Steady> runs_since;     // nullopt: the clock is stopped.

    // Returns whether the run belongs to the record. A record with more time than the run was
    // written by another leader.
    [[nodiscard]] bool is_of(const StepRecord& record) const {
      return step == record.step && intent_at == record.intent_at && attempts == record.attempts &&
             time.ran >= std::chrono::seconds(record.active_seconds);
    }
  };
  [[nodiscard]] static Run run_of(const StepRecord& record, WatchedTime time);
  [[nodiscard]] Run taken_over(const StepRecord& record) const;
  void count(Run& run, const StepRecord& record) const;
  [[nodiscard]] bool may_act();

  Clock& clock_;
  const Permit permit_;
  std::mutex mutex_;
  std::map<std::string, Run> runs_;  // By name of the Remediation; each has one running step.
  // Held while the permit is read, so that concurrent callers share one answer.
  std::mutex permit_mutex_;
  bool is_permitted_ = false;
  std::optional<Clock::Steady> asked_at_;
};

}  // namespace gpuward::remediator
