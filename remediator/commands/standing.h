// Why an open Remediation stands where it stands, in a few words. Pure; used by the tables of
// status and list, and by explain.
#pragma once

#include <string>
#include <string_view>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// The rule that an open Remediation waits for or is held by, whatever its phase: the taint may
// stand while the cordon waits. Empty if it continues or its steps are done.
[[nodiscard]] std::string_view rule_waited_for(const Remediation& remediation);

// The message of the status; where an operator has paused or cancelled it, who and when.
[[nodiscard]] std::string reason_of(const Remediation& remediation, WallTime now);

// Whether the node's own exporter finds nothing wrong any more. No alert of its tells that sooner.
[[nodiscard]] bool says_healthy(const kube::Node& node);

// An alert for which gpuward has a runbook, a firing one if there is one. nullptr: there is none,
// as for a fault that another source reports.
[[nodiscard]] const AlertEvidence* alert_with_runbook(const Remediation& remediation);

// "34s", "5m", "3h", "4d"
[[nodiscard]] std::string age_text(WallTime since, WallTime now);

}  // namespace gpuward::remediator
