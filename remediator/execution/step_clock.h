// The clock of a running step. It counts only time in which a leader watched the step and the step
// could act. A pause, an exclusion, the stop switch, a lower mode, an API server that does not
// answer, and the absence of a leader stop it. Used by step_execution. Every limit of a step uses
// it; delays and windows of the policy use the wall clock.
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

// Checks of a running step are at most a minute apart (ControllerOptions). A longer time between
// two of them, as after a pause, is not counted.
inline constexpr std::chrono::minutes kLongestBetweenLooks{2};
// A check lasts as long as an operator's program may (machines.timeout). A longer one, as on a
// machine that was suspended, is not counted.
inline constexpr std::chrono::minutes kLongestLook{11};

struct WatchedTime {
  std::chrono::milliseconds ran{0};  // `unwatched` included
  // Time that this replica did not watch and the record did not have when it took over: the leader
  // before may have watched it. 0 once a record has that time.
  std::chrono::milliseconds unwatched{0};
};

// Any thread, one call per Remediation at a time.
class StepClock {
 public:
  // `permit`: says why nothing may be changed right now; called at most every 5 s.
  StepClock(Clock& clock, Permit permit) : clock_(clock), permit_(std::move(permit)) {}

  // Returns how long the step of `record` has run. Call it once, at the start of a check.
  [[nodiscard]] WatchedTime look(const std::string& remediation, const StepRecord& record);
  // The check has ended. The time until the next one counts if there was an answer and the step may
  // act.
  void look_ended(const std::string& remediation, bool has_answer);
  // The step of `record` restarts under its old intent.
  void restart(const std::string& remediation, const StepRecord& record);
  void forget(const std::string& remediation);
  // This replica becomes leader: another one may have led since its last check.
  void forget_all();

 private:
  struct Run {
    Step step = Step::kTaint;
    std::optional<WallTime> intent_at;
    int attempts = 0;
    WatchedTime time;
    std::chrono::milliseconds taken_over_at{0};  // `ran` then
    std::optional<Clock::Steady> looked_at;      // a check has been running since then
    std::optional<Clock::Steady> runs_since;     // nullopt: the clock is stopped

    // A record that has more time than the run was written by another leader.
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
  std::map<std::string, Run> runs_;  // by Remediation; each has one running step
  std::mutex permit_mutex_;          // held while the permit is read: one answer serves all
  bool is_permitted_ = false;
  std::optional<Clock::Steady> asked_at_;
};

}  // namespace gpuward::remediator
