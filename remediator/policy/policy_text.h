// A policy as text: the steps for a node at each severity, and the last step that the mode allows.
// Printed by `gpuwardctl policy explain` and shown on the page of the policy. Pure.
#pragma once

#include <optional>
#include <string>

#include "core/model/severity.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// Returns the steps of `severity` in order, with their limits, their conditions, and the
// consequence of a failure. Several lines.
[[nodiscard]] std::string severity_text(const Policy& policy, Severity severity);

// Returns the steps for announcements of a cloud, by kind. Several lines.
[[nodiscard]] std::string maintenance_text(const Policy& policy);

// Returns the rules for every severity: the evidence and the budgets before a disruptive step, and
// the return to service.
[[nodiscard]] std::string guards_text(const Policy& policy);

// Returns the sinks and their notifications; empty if there are none.
[[nodiscard]] std::string notifications_text(const NotificationPolicy& policy);

// Returns all of these: the steps at that severity, or at each with the worst first; then sources,
// guards and notifications.
[[nodiscard]] std::string rules_text(const Policy& policy, std::optional<Severity> only = {});

// Returns the share as `2 or 10 %`.
[[nodiscard]] std::string share_text(const Share& share);

}  // namespace gpuward::remediator
