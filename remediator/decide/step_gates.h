// The conditions that a step after taint and cordon has to wait for: delay, window, evidence,
// alerts, proofs, approval, budget. step_decisions.cpp takes the step, or decides what follows
// after its failure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "remediator/decide/decide.h"

namespace gpuward::remediator {

// Returns the record of a step if it counts now, else nullptr. Taint and cordon always count, other
// steps only if they were taken at the acted severity.
[[nodiscard]] const StepRecord* counting_record(const Remediation& remediation, Step step);

// Returns the first step after taint and cordon that is not done; nullptr if all are done. Failed
// collection of evidence counts as done. A verification in another boot than `boot_id` does not
// count as done.
[[nodiscard]] const PlannedStep* next_step(const std::vector<PlannedStep>& plan,
                                           const Remediation& remediation,
                                           const std::string& boot_id);

// Returns whether the step is intended or running.
[[nodiscard]] bool is_under_way(const StepRecord& record);

// Returns the step that has begun and not ended, at any severity; nullopt if there is none. It runs
// to its end before any other step.
[[nodiscard]] std::optional<PlannedStep> step_under_way(const Policy& policy,
                                                        const Remediation& remediation);
// Returns the step with the settings of its plan in the current policy: the plan under which the
// step began, even if the node belongs to another pool now.
[[nodiscard]] PlannedStep as_begun(const Policy& policy, const Remediation& remediation,
                                   const StepRecord& record);

// Returns whether any step after taint and cordon has ever begun.
[[nodiscard]] bool has_begun(const Remediation& remediation);

[[nodiscard]] Phase phase_of(Step step);

// The result of a check whether a step may begin, with the reason for a wait.
struct Gate {
  // kBegin: the step may begin. kHold: the step waits. kEscalate: the step did not last when it was
  // taken before.
  Verdict verdict = Verdict::kBegin;
  std::string rule, message;
  std::optional<ApprovalRecord> approval;
  bool withdraws_approval = false;
  std::optional<std::chrono::milliseconds> look_again;
};

// Interval between checks of a step that waits.
inline constexpr std::chrono::seconds kGateInterval{15};
// Returns a Gate that lets the step wait, with `rule` and `message`.
[[nodiscard]] Gate shut(std::string rule, std::string message,
                        std::chrono::milliseconds look_again = kGateInterval);

// Returns why the step waits for its maintenance window. Checked each time before the step begins;
// a step that has begun continues after the window.
[[nodiscard]] std::optional<Gate> window_before(const PlannedStep& step, const Policy& policy,
                                                WallTime now);

struct Draft;
[[nodiscard]] Gate gate_before(const PlannedStep& step, Draft& draft);

}  // namespace gpuward::remediator
