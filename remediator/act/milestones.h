// When a Remediation passed its milestones. The reconciler adds the milestones to each status that
// it writes, and reports them to the observer after the write. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "remediator/act/observer.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Returns `next` with the milestones that the Remediation has passed. Earlier milestones keep their
// time.
[[nodiscard]] RemediationStatus with_milestones(const Remediation& remediation,
                                                RemediationStatus next, WallTime now);

// Reports each milestone that `written` has and `before` had not, with the time since the first
// alert fired. Alerts do not say when the fault itself occurred. Reports nothing for a drill or
// without an alert.
void report_milestones(const RemediationStatus& before, const Remediation& written,
                       ReconcileObserver& observer);

}  // namespace gpuward::remediator
