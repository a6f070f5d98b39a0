// How a Remediation's status follows from a decision and from how its action went. Pure; used by
// the reconciler.
#pragma once

#include <string>

#include "remediator/policy/remediation.h"
#include "remediator/workflow/decide.h"

namespace gpuward::remediator {

// The decision itself, nothing done yet: phase, mode, rule, message, reasons.
[[nodiscard]] RemediationStatus with_decision(RemediationStatus status, const Decision& decision,
                                              Mode mode, WallTime now);
// The decision's steps as intended; the phase stays what it was.
[[nodiscard]] RemediationStatus with_intents(RemediationStatus status, const Decision& decision,
                                             Mode mode, WallTime now);
// The decision's steps as done, the phase as decided.
[[nodiscard]] RemediationStatus with_results(RemediationStatus status, const Decision& decision,
                                             Mode mode, WallTime now);
// The intended steps as failed.
[[nodiscard]] RemediationStatus with_failure(RemediationStatus status, const std::string& error,
                                             WallTime now);

// Whether both say the same, times and attempts aside: then nothing needs to be written again.
[[nodiscard]] bool says_the_same(const RemediationStatus& a, const RemediationStatus& b);

}  // namespace gpuward::remediator
