// When a Remediation passed its milestones. They are added to each status on its way to the API
// server, and reported to the observer once the status is written. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "remediator/execution/observer.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Returns `next` with the milestones that it has passed; earlier ones keep their time.
[[nodiscard]] RemediationStatus with_milestones(const Remediation& remediation,
                                                RemediationStatus next, WallTime now);

// Reports each milestone that `written` has and `before` had not, with the time since the first of
// the alerts fired: alerts do not say when the fault itself occurred. Reports nothing if there is
// no alert, or for a drill.
void report_milestones(const RemediationStatus& before, const Remediation& written,
                       ReconcileObserver& observer);

}  // namespace gpuward::remediator
