// The one clock of a step that is under way: it counts only the time in which a leader watched the
// step and could act. A pause, an exclusion, the stop switch, a lower mode, an API server without
// answers, and the absence of a leader stop it. Used by step_execution; every limit of a step reads
// it, and delays and windows of the policy keep the wall clock.
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

// Looks at a step that is under way are at most a minute apart (ControllerOptions). A longer time
// between two of them, as after a pause, is not counted.
inline constexpr std::chrono::minutes kLongestBetweenLooks{2};
// A look lasts as long as an operator's program may (machines.timeout). A longer one, as of a
// machine that was suspended, is not counted.
inline constexpr std::chrono::minutes kLongestLook{11};

struct WatchedTime {
  std::chrono::milliseconds ran{0};  // `unwatched` included
  // What this replica did not watch, and the record did not have as it took over: the leader before
  // may have. 0 once a record has that time.
  std::chrono::milliseconds unwatched{0};
};

// Any thread; of one Remediation at a time.
class StepClock {
 public:
  // `permit`: why nothing may be changed right now; asked at most every 5 s.
  StepClock(Clock& clock, Permit permit) : clock_(clock), permit_(std::move(permit)) {}

  // How long the step of `record` has run by now. To be called once, when a look at it begins.
  [[nodiscard]] WatchedTime look(const std::string& remediation, const StepRecord& record);
  // The look has ended. The time until the next one counts if there was an answer and the step may
  // act.
  void look_ended(const std::string& remediation, bool has_answer);
  // The step of `record` restarts under its old intent.
  void restart(const std::string& remediation, const StepRecord& record);
  void forget(const std::string& remediation);
  // This replica begins to lead: another one may have led since it looked last.
  void forget_all();

 private:
  struct Run {
    Step step = Step::kTaint;
    std::optional<WallTime> intent_at;
    int attempts = 0;
    WatchedTime time;
    std::chrono::milliseconds taken_over_at{0};  // `ran` then
    std::optional<Clock::Steady> looked_at;      // a look is under way since then
    std::optional<Clock::Steady> runs_since;     // nullopt: it stands

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
  std::map<std::string, Run> runs_;  // by Remediation: one step of each is under way
  std::mutex permit_mutex_;          // held during the read of the permit: one answer serves all
  bool is_permitted_ = false;
  std::optional<Clock::Steady> asked_at_;
};

}  // namespace gpuward::remediator
