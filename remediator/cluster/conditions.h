// The conditions of a Remediation; the reconciler adds them to each status on its way to the API
// server. Pure.
#pragma once

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

[[nodiscard]] bool holds(ConditionType type, Phase phase);

// Returns `next` with the conditions of its phase. An unchanged condition keeps its time.
[[nodiscard]] RemediationStatus with_conditions(RemediationStatus next, WallTime now);

}  // namespace gpuward::remediator
