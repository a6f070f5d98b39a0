// How a Remediation's status follows from a decision and from the progress of its action. Pure;
// used by the reconciler.
#pragma once

#include <chrono>
#include <string>

#include "remediator/actions/step_action.h"
#include "remediator/decision/decide.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Records the decision itself before its action: phase, mode, rule, message, reasons.
[[nodiscard]] RemediationStatus with_decision(RemediationStatus status, const Decision& decision,
                                              Mode mode, WallTime now);
// Records the intended taint and cordon as done if `mark` has them: they were put on the node at
// that time.
[[nodiscard]] RemediationStatus with_annotation(RemediationStatus status,
                                                const OwnerAnnotation& mark, WallTime at);
// The decision's steps as intended; the phase stays unchanged.
[[nodiscard]] RemediationStatus with_intents(RemediationStatus status, const Decision& decision,
                                             Mode mode, WallTime now);
// The decision's steps as done, the phase as decided.
[[nodiscard]] RemediationStatus with_results(RemediationStatus status, const Decision& decision,
                                             Mode mode, WallTime now);
// The intended steps as failed.
[[nodiscard]] RemediationStatus with_failure(RemediationStatus status, const std::string& error,
                                             WallTime now);

// The step of a kBegin decision as intended, with the facts that it needs later.
[[nodiscard]] RemediationStatus with_begin(RemediationStatus status, const Decision& decision,
                                           Severity severity, Mode mode, Facts facts, WallTime now);
// The same if only watch() carries the step out.
[[nodiscard]] RemediationStatus with_watch(RemediationStatus status, const Decision& decision);
// How often the record of a running step gets its time: a crash loses at most that.
inline constexpr std::chrono::seconds kKeepsTimeEvery{60};
// The drain resumes, because pods have come since it was done. After kMostDrains it has failed.
inline constexpr int kMostDrains = 5;
[[nodiscard]] RemediationStatus with_drain_again(RemediationStatus status, const std::string& why,
                                                 WallTime now);
// Whether `next` differs only in the message or the running time of that step.
[[nodiscard]] bool is_same_but_for_message(const RemediationStatus& next,
                                           const RemediationStatus& known, Step step);
// Records the progress of the decision's step, which has run for `ran`. A step whose time is over
// has failed; its message has "not done in time" only if its call was made. kIntended: nothing was
// done, and the record is as before the step. A step that has already failed can only change to
// done.
[[nodiscard]] RemediationStatus with_progress(RemediationStatus status, const Decision& decision,
                                              const StepProgress& progress,
                                              std::chrono::milliseconds ran, WallTime now);
// A diagnostic that is no longer watched has failed.
[[nodiscard]] RemediationStatus with_left_failure(RemediationStatus status, Step left,
                                                  const StepProgress& progress, WallTime now);

// Whether both are equal apart from times and attempts: then no write is needed.
[[nodiscard]] bool is_same_status(const RemediationStatus& a, const RemediationStatus& b);

}  // namespace gpuward::remediator
