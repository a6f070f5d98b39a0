// The alerts that gpuward itself raises about a machine that was registered again as another Node.
// No Alertmanager has these alerts. So they justify no disruptive step if the policy requires
// confirmation by an Alertmanager.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/runtime/text.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// The machine belonged to an earlier Remediation that ended without proof of the machine's health.
inline constexpr std::string_view kReturnedAlert = "GpuwardMachineReturned";
// The machine may be the same: one sign says so, another sign contradicts it.
inline constexpr std::string_view kContradictoryAlert = "GpuwardMachineContradictory";

// Returns a fingerprint of ten hexadecimal digits. No alert of another source has one, because the
// webhook rejects such fingerprints.
[[nodiscard]] inline std::string history_fingerprint(std::string_view alertname,
                                                     std::string_view node_uid) {
  return short_hash(std::string(alertname) + '\n' + std::string(node_uid));
}
[[nodiscard]] inline bool is_history_fingerprint(std::string_view fingerprint) {
  return fingerprint.size() == 10 && !fingerprint.contains('.');
}

// Returns whether the alert is one of these. A sender of the webhook can choose the alertname, but
// not that fingerprint.
[[nodiscard]] inline bool is_of_history(const AlertEvidence& alert) {
  const bool is_named = alert.alertname == kReturnedAlert || alert.alertname == kContradictoryAlert;
  return is_named && is_history_fingerprint(alert.fingerprint);
}

// Returns whether alerts about history fire for the Remediation, and no other alert that counts.
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

// Returns the severity that kept the machine out of service when its Node disappeared; at least
// kReset after a failed diagnostic. Returns kNone if there was no reason, or if an operator has
// since declared that the machine was replaced.
[[nodiscard]] inline Severity given_up_with(const Remediation& remediation) {
  const bool has_gone = remediation.status.phase == Phase::kSuperseded;
  if (!has_gone || remediation.wish.machine_replaced) return Severity::kNone;
  // The severity of a drill is invented, but the findings of its diagnostics are real.
  const Severity acted = remediation.is_drill() ? Severity::kNone : remediation.acted_severity();
  const Severity least = has_failed_in(remediation, {}) ? Severity::kReset : Severity::kNone;
  const Severity severity = std::max(acted, least);
  return severity >= Severity::kReset ? severity : Severity::kNone;
}
[[nodiscard]] inline bool was_given_up(const Remediation& remediation) {
  return given_up_with(remediation) > Severity::kNone;
}

}  // namespace gpuward::remediator
