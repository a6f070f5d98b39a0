// The alerts that gpuward raises itself about a machine whose Node was registered again. No
// Alertmanager knows them, so they justify no disruptive step if the policy requires an
// Alertmanager's confirmation.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/runtime/text.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// The machine is that of an earlier Remediation that ended without proof of its health.
inline constexpr std::string_view kReturnedAlert = "GpuwardMachineReturned";
// It may be that machine: one sign says so, another contradicts it.
inline constexpr std::string_view kContradictoryAlert = "GpuwardMachineContradictory";

// Ten hexadecimal digits, which no alert of another source has: a notification with such a
// fingerprint is rejected.
[[nodiscard]] inline std::string history_fingerprint(std::string_view alertname,
                                                     std::string_view node_uid) {
  return short_hash(std::string(alertname) + '\n' + std::string(node_uid));
}
[[nodiscard]] inline bool is_history_fingerprint(std::string_view fingerprint) {
  return fingerprint.size() == 10 && !fingerprint.contains('.');
}

// A sender of the webhook chooses the alertname, but not that fingerprint.
[[nodiscard]] inline bool is_of_history(const AlertEvidence& alert) {
  const bool is_named = alert.alertname == kReturnedAlert || alert.alertname == kContradictoryAlert;
  return is_named && is_history_fingerprint(alert.fingerprint);
}

// Whether alerts of history fire for it, and no other alert does.
[[nodiscard]] inline bool rests_on_history(const Remediation& remediation) {
  return remediation.any_firing() &&
         std::ranges::all_of(remediation.alerts, [&](const AlertEvidence& alert) {
           return !alert.firing() || is_of_history(alert) || !remediation.counts(alert);
         });
}

[[nodiscard]] inline bool is_contradictory(const Remediation& remediation) {
  return std::ranges::any_of(remediation.alerts, [](const AlertEvidence& alert) {
    return alert.firing() && is_of_history(alert) && alert.alertname == kContradictoryAlert;
  });
}

// Returns the severity for which the machine had to stay out of service when its Node disappeared,
// also because of a failed diagnostic. kNone if there was no reason, or if an operator has since
// declared that the machine was replaced.
[[nodiscard]] inline Severity given_up_with(const Remediation& remediation) {
  const bool has_gone = remediation.status.phase == Phase::kSuperseded;
  if (!has_gone || remediation.wish.machine_replaced) return Severity::kNone;
  // The severity of a drill is made up; the findings of its diagnostics are real.
  const Severity acted = remediation.is_drill() ? Severity::kNone : remediation.acted_severity();
  const Severity least = has_failed_in(remediation, {}) ? Severity::kReset : Severity::kNone;
  const Severity severity = std::max(acted, least);
  return severity >= Severity::kReset ? severity : Severity::kNone;
}
[[nodiscard]] inline bool was_given_up(const Remediation& remediation) {
  return given_up_with(remediation) > Severity::kNone;
}

}  // namespace gpuward::remediator
