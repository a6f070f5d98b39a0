// The alerts that gpuward raises itself about a node whose kubelet no longer reports
// (inbox/sources/silent_source). Neither the exporter nor an Alertmanager knows them; the section
// `silent` of the policy limits what they may lead to.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Prefix of the fingerprints of alerts about silent nodes.
inline constexpr std::string_view kSilentOrigin = "silent.";
// No source has heard from the machine.
inline constexpr std::string_view kSilentAlert = "GpuNodeSilent";
inline const std::string kSilentFingerprint = std::string(kSilentOrigin) + "node";
// The kubelet no longer reports, but Prometheus still reads the exporter on the node.
inline constexpr std::string_view kKubeletAlert = "GpuKubeletDown";
inline const std::string kKubeletFingerprint = std::string(kSilentOrigin) + "kubelet";

[[nodiscard]] inline bool is_of_silent_node(const AlertEvidence& alert) {
  return alert.fingerprint == kSilentFingerprint;
}

// Returns whether the node is or was silent and no later fault was reported. The policy for silent
// nodes then decides the steps.
[[nodiscard]] inline bool rests_on_silence(const Remediation& remediation) {
  std::optional<WallTime> silent_until;
  WallTime fault_until{};
  for (const AlertEvidence& alert : remediation.alerts) {
    if (is_of_silent_node(alert)) {
      if (alert.firing()) return true;
      silent_until = std::max(silent_until.value_or(WallTime()), *alert.ended_at);
    } else if (remediation.counts(alert)) {
      fault_until = std::max(fault_until, alert.ended_at.value_or(WallTime::max()));
    }
  }
  return silent_until && *silent_until >= fault_until;
}

// Returns whether the step needs proofs that the machine is down. They replace the report, which a
// silent node does not send.
[[nodiscard]] inline bool rests_on_proofs(Step step, const Remediation& remediation) {
  return step == Step::kOutOfService || (is_of_the_machine(step) && rests_on_silence(remediation));
}

// Returns whether the node has no evidence except silence.
[[nodiscard]] inline bool is_only_silent(const Remediation& remediation) {
  return rests_on_silence(remediation) &&
         std::ranges::all_of(remediation.alerts, [](const AlertEvidence& alert) {
           return alert.fingerprint.starts_with(kSilentOrigin);
         });
}

}  // namespace gpuward::remediator
