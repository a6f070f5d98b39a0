// How a Remediation's status follows from a decision and from how its action went. Pure; used by
// the reconciler.
#pragma once

#include <chrono>
#include <string>

#include "remediator/actions/step_action.h"
#include "remediator/decision/decide.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// The decision itself, nothing done yet: phase, mode, rule, message, reasons.
[[nodiscard]] RemediationStatus with_decision(RemediationStatus status, const Decision& decision,
                                              Mode mode, WallTime now);
// What `mark` says of taint and cordon that were intended: they were put on the node at that time.
[[nodiscard]] RemediationStatus with_annotation(RemediationStatus status,
                                                const OwnerAnnotation& mark, WallTime at);
// The decision's steps as intended; the phase stays what it was.
[[nodiscard]] RemediationStatus with_intents(RemediationStatus status, const Decision& decision,
                                             Mode mode, WallTime now);
// The decision's steps as done, the phase as decided.
[[nodiscard]] RemediationStatus with_results(RemediationStatus status, const Decision& decision,
                                             Mode mode, WallTime now);
// The intended steps as failed.
[[nodiscard]] RemediationStatus with_failure(RemediationStatus status, const std::string& error,
                                             WallTime now);

// The step of a kBegin decision as intended, with what it has to know again later.
[[nodiscard]] RemediationStatus with_begin(RemediationStatus status, const Decision& decision,
                                           Severity severity, Mode mode, Facts facts, WallTime now);
// The same where nothing but watch() carries the step out.
[[nodiscard]] RemediationStatus with_watch(RemediationStatus status, const Decision& decision);
// How often the record of a running step gets its time: a crash loses at most that.
inline constexpr std::chrono::seconds kKeepsTimeEvery{60};
// The drain resumes, because pods have come since it was done. After kMostDrains it has failed.
inline constexpr int kMostDrains = 5;
[[nodiscard]] RemediationStatus with_drain_again(RemediationStatus status, const std::string& why,
                                                 WallTime now);
// Whether `next` only says in other words, or at another time, how far that step is.
[[nodiscard]] bool is_same_but_for_message(const RemediationStatus& next,
                                           const RemediationStatus& known, Step step);
// How the decision's step goes, which has run for `ran`. A step whose time is over has failed; its
// message has "not done in time" only if its call was made. kIntended: nothing was done, and the
// record is as before the step. A step that has failed already is only ever found to be done after
// all.
[[nodiscard]] RemediationStatus with_progress(RemediationStatus status, const Decision& decision,
                                              const StepProgress& progress,
                                              std::chrono::milliseconds ran, WallTime now);
// A diagnostic that is not watched any more has failed.
[[nodiscard]] RemediationStatus with_left_failure(RemediationStatus status, Step left,
                                                  const StepProgress& progress, WallTime now);

// Whether both say the same, times and attempts aside: then nothing needs to be written again.
[[nodiscard]] bool is_same_status(const RemediationStatus& a, const RemediationStatus& b);

}  // namespace gpuward::remediator
