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

// Any thread; of one Remediation at a time.
class StepClock {
 public:
  // `permit`: why nothing may be changed right now; asked at most every 5 s.
  StepClock(Clock& clock, Permit permit) : clock_(clock), permit_(std::move(permit)) {}

  // How long the step of `record` has run by now. To be called once, when a look at it begins.
  [[nodiscard]] std::chrono::milliseconds look(const std::string& remediation,
                                               const StepRecord& record);
  // The look has ended. The time until the next one counts if there was an answer and the step may
  // act.
  void look_ended(const std::string& remediation, bool has_answer);
  void forget(const std::string& remediation);

 private:
  struct Run {
    Step step = Step::kTaint;
    std::optional<WallTime> intent_at;
    std::chrono::milliseconds ran{0};
    std::optional<Clock::Steady> runs_since;  // nullopt: it stands

    [[nodiscard]] bool is_of(const StepRecord& record) const {
      return step == record.step && intent_at == record.intent_at;
    }
  };
  [[nodiscard]] Run taken_over(const StepRecord& record) const;
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
