// What a step after taint and cordon still has to wait for: delay, window, evidence, alerts,
// proofs, approval, budget. Pure; step_decisions.cpp takes the step, or says what follows where it
// failed.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "remediator/decision/decide.h"

namespace gpuward::remediator {

// The record of a step as it counts now: taint and cordon always, others only where they were taken
// at the severity that is acted on. Null where there is none.
[[nodiscard]] const StepRecord* counting_record(const Remediation& remediation, Step step);

// The step after taint and cordon that is not done yet; null where all are. Evidence that could not
// be collected counts as done, and a verification in another boot than `boot_id` does not.
[[nodiscard]] const PlannedStep* next_step(const std::vector<PlannedStep>& plan,
                                           const Remediation& remediation,
                                           const std::string& boot_id);

// Intended or running.
[[nodiscard]] bool is_under_way(const StepRecord& record);

// A step that is under way, at whatever severity it was begun: it is seen to its end before
// anything else. Nullopt where there is none.
[[nodiscard]] std::optional<PlannedStep> step_under_way(const Policy& policy,
                                                        const Remediation& remediation);
// With the settings of the plan that it was begun under, as they are now, even where the node
// belongs to another pool by now.
[[nodiscard]] PlannedStep as_begun(const Policy& policy, const Remediation& remediation,
                                   const StepRecord& record);

// Whether any step after taint and cordon has ever been begun.
[[nodiscard]] bool has_begun(const Remediation& remediation);

[[nodiscard]] Phase phase_of(Step step);

// What a step that could be begun waits for.
struct Gate {
  // kBegin: nothing; kHold; kAskReport; kAskAlerts; kAskProofs; kAskGuard; kAskWornOut; kAskSlot;
  // kEscalate: it did not last the last time.
  Verdict verdict = Verdict::kBegin;
  std::string rule, message;
  std::optional<ApprovalRecord> approval;
  bool withdraws_approval = false;
  std::optional<std::chrono::milliseconds> look_again;
};

// How often a step that waits is looked at.
inline constexpr std::chrono::seconds kGateInterval{15};
// The step waits for `message`, by `rule`.
[[nodiscard]] Gate shut(std::string rule, std::string message,
                        std::chrono::milliseconds look_again = kGateInterval);

// Asked for each time that the step might be begun: a step that has begun continues after the end.
[[nodiscard]] std::optional<Gate> window_before(const PlannedStep& step, const Policy& policy,
                                                WallTime now);

[[nodiscard]] Gate gate_before(const PlannedStep& step, const Policy& policy,
                               const DecisionInputs& inputs, WallTime now);

}  // namespace gpuward::remediator
