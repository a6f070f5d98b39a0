// When a Remediation came past its milestones: put into each status on its way to the API server,
// and told to the observer when it has arrived. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "remediator/execution/observer.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// `next` with the milestones that it is past; those of before keep their time.
[[nodiscard]] RemediationStatus with_milestones(const Remediation& remediation,
                                                RemediationStatus next, WallTime now);

// Tells of each milestone that `written` has and `before` had not, with its time since the fault:
// since the first of the alerts fired, because alerts do not say when the fault itself was. Nothing
// where there is no alert, nor of a drill.
void report_milestones(const RemediationStatus& before, const Remediation& written,
                       ReconcileObserver& observer);

}  // namespace gpuward::remediator
