// Computes a Remediation's status from a decision and from the progress of its action. Pure; used
// by the reconciler.
#pragma once

#include <chrono>
#include <string>

#include "remediator/decide/decide.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/remediation.h"
#include "remediator/model/step_facts.h"

namespace gpuward::remediator {

// Records the decision before its action: phase, mode, rule, message, reasons.
[[nodiscard]] RemediationStatus with_decision(RemediationStatus status, const Decision& decision,
                                              Mode mode, WallTime now);
// Records the intended taint and cordon as done at the time `at` if `mark` contains them.
[[nodiscard]] RemediationStatus with_annotation(RemediationStatus status,
                                                const OwnerAnnotation& mark, WallTime at);
// Records the decision's steps as intended. The phase stays unchanged.
[[nodiscard]] RemediationStatus with_intents(RemediationStatus status, const Decision& decision,
                                             Mode mode, WallTime now);
// Records the decision's steps as done, with the phase of the decision.
[[nodiscard]] RemediationStatus with_results(RemediationStatus status, const Decision& decision,
                                             Mode mode, WallTime now);
// Records the intended steps as failed.
[[nodiscard]] RemediationStatus with_failure(RemediationStatus status, const std::string& error,
                                             WallTime now);

// Records the step of a kBegin decision as intended, with the facts that it needs later.
[[nodiscard]] RemediationStatus with_begin(RemediationStatus status, const Decision& decision,
                                           Severity severity, Mode mode, Facts facts, WallTime now);
// Records the step as running at once, because only watch() carries it out.
[[nodiscard]] RemediationStatus with_watch(RemediationStatus status, const Decision& decision);
// How often a running step writes its time into the record. A crash loses at most this time.
inline constexpr std::chrono::seconds kKeepsTimeEvery{60};
// Resumes the drain because pods have come after it was done. The drain fails after kMostDrains.
inline constexpr int kMostDrains = 5;
[[nodiscard]] RemediationStatus with_drain_again(RemediationStatus status, const std::string& why,
                                                 WallTime now);
// Returns whether `next` differs only in the message or the running time of that step.
[[nodiscard]] bool is_same_but_for_message(const RemediationStatus& next,
                                           const RemediationStatus& known, Step step);
// Records the progress of the decision's step, which has run for `ran`. A step over its time limit
// has failed; its message has "not done in time" only if its call was made. With kIntended nothing
// was done, and the record is as before the step. A failed step can only change to done.
[[nodiscard]] RemediationStatus with_progress(RemediationStatus status, const Decision& decision,
                                              const StepProgress& progress,
                                              std::chrono::milliseconds ran, WallTime now);
// Records the failure of a diagnostic that gpuward no longer watches.
[[nodiscard]] RemediationStatus with_left_failure(RemediationStatus status, Step left,
                                                  const StepProgress& progress, WallTime now);

// Returns whether both are equal apart from times and attempts, so that no write is needed.
[[nodiscard]] bool is_same_status(const RemediationStatus& a, const RemediationStatus& b);

}  // namespace gpuward::remediator
