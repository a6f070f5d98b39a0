// The gates that a step after taint and cordon has to wait for: delay, window, evidence, alerts,
// proofs, approval, budget. step_decisions.cpp takes the step, or decides what follows if it
// failed.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "remediator/decision/decide.h"

namespace gpuward::remediator {

// The record of a step if it counts now: taint and cordon always, others only if they were taken at
// the acted severity. nullptr if there is none.
[[nodiscard]] const StepRecord* counting_record(const Remediation& remediation, Step step);

// The first step after taint and cordon that is not done yet; nullptr if all are. Evidence that
// could not be collected counts as done, and a verification in another boot than `boot_id` does
// not.
[[nodiscard]] const PlannedStep* next_step(const std::vector<PlannedStep>& plan,
                                           const Remediation& remediation,
                                           const std::string& boot_id);

// Intended or running.
[[nodiscard]] bool is_under_way(const StepRecord& record);

// The step that is under way, at any severity: it runs to its end before anything else. nullopt if
// there is none.
[[nodiscard]] std::optional<PlannedStep> step_under_way(const Policy& policy,
                                                        const Remediation& remediation);
// The step with the settings of the plan under which it began, in the current policy, even if the
// node belongs to another pool now.
[[nodiscard]] PlannedStep as_begun(const Policy& policy, const Remediation& remediation,
                                   const StepRecord& record);

// Whether any step after taint and cordon has ever begun.
[[nodiscard]] bool has_begun(const Remediation& remediation);

[[nodiscard]] Phase phase_of(Step step);

// The reason why a step that could begin has to wait.
struct Gate {
  // kBegin: no reason; kHold; kEscalate: the step did not last when it was taken before.
  Verdict verdict = Verdict::kBegin;
  std::string rule, message;
  std::optional<ApprovalRecord> approval;
  bool withdraws_approval = false;
  std::optional<std::chrono::milliseconds> look_again;
};

// How often a step that waits is checked.
inline constexpr std::chrono::seconds kGateInterval{15};
// The step waits for `message`, by `rule`.
[[nodiscard]] Gate shut(std::string rule, std::string message,
                        std::chrono::milliseconds look_again = kGateInterval);

// Checked each time before the step would begin: a step that has begun continues after the window.
[[nodiscard]] std::optional<Gate> window_before(const PlannedStep& step, const Policy& policy,
                                                WallTime now);

struct Draft;
[[nodiscard]] Gate gate_before(const PlannedStep& step, Draft& draft);

}  // namespace gpuward::remediator
