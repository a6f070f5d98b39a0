// A policy in words: what would be done to a node at each severity, step by step, and where the
// mode cuts it. Printed by `gpuwardctl policy explain`. Pure.
#pragma once

#include <string>

#include "core/model/severity.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// The steps of `severity` in order, with their limits, with what each waits for, and with what
// follows where it fails. Several lines.
[[nodiscard]] std::string severity_text(const Policy& policy, Severity severity);

// What is done about what a cloud announces, likewise, by kind.
[[nodiscard]] std::string maintenance_text(const Policy& policy);

// What holds for every severity: the evidence and the budgets before a disruptive step, and the way
// back.
[[nodiscard]] std::string guards_text(const Policy& policy);

// Who is notified of what; empty where nobody is.
[[nodiscard]] std::string notifications_text(const NotificationPolicy& policy);

// `2 or 10 %`.
[[nodiscard]] std::string share_text(const Share& share);

}  // namespace gpuward::remediator
