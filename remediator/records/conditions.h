// The conditions of a Remediation, put into each status on its way to the API server by the
// reconciler. Pure.
#pragma once

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

[[nodiscard]] bool holds(ConditionType type, Phase phase);

// `next` with the conditions of its phase; one that says what it said before keeps its time.
[[nodiscard]] RemediationStatus with_conditions(RemediationStatus next, WallTime now);

}  // namespace gpuward::remediator
