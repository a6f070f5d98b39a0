// Why an open Remediation is waiting, in a few words. Pure; used by the tables of status and list,
// and by explain.
#pragma once

#include <string>
#include <string_view>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Returns the rule that an open Remediation waits for, in any phase: it may have the taint and
// still wait for the cordon. Empty if it continues or its steps are done.
[[nodiscard]] std::string_view rule_waited_for(const Remediation& remediation);

// Returns the message of the status; if an operator has paused or cancelled it, who and when.
[[nodiscard]] std::string reason_of(const Remediation& remediation, WallTime now);

// Returns whether the node's own exporter reports pass, which no alert shows sooner.
[[nodiscard]] bool says_healthy(const kube::Node& node);

// Returns an alert for which gpuward has a runbook, a firing one if possible. nullptr if there is
// none, as for a fault from another source.
[[nodiscard]] const AlertEvidence* alert_with_runbook(const Remediation& remediation);

// Returns "34s", "5m", "3h" or "4d".
[[nodiscard]] std::string age_text(WallTime since, WallTime now);

}  // namespace gpuward::remediator
