// The alerts that gpuward raises itself about a node whose kubelet reports no more
// (sources/silent_source). Neither the exporter nor an Alertmanager knows of them: what they may
// lead to is said by the policy's section `silent`.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// What the fingerprints of such evidence begin with.
inline constexpr std::string_view kSilentOrigin = "silent.";
// Nothing is heard of the machine, as far as anybody knows.
inline constexpr std::string_view kSilentAlert = "GpuNodeSilent";
inline const std::string kSilentFingerprint = std::string(kSilentOrigin) + "node";
// The kubelet reports no more, and Prometheus still reads the exporter on the node.
inline constexpr std::string_view kKubeletAlert = "GpuKubeletDown";
inline const std::string kKubeletFingerprint = std::string(kSilentOrigin) + "kubelet";

[[nodiscard]] inline bool is_of_silent_node(const AlertEvidence& alert) {
  return alert.fingerprint == kSilentFingerprint;
}

// Whether the node is known to be silent, or was and nothing else is said of it by now: what is
// done about it is what the policy says of silent nodes.
[[nodiscard]] inline bool rests_on_silence(const Remediation& remediation) {
  const auto is_firing = [](const AlertEvidence& alert) {
    return alert.firing() && is_of_silent_node(alert);
  };
  if (std::ranges::any_of(remediation.alerts, is_firing)) return true;
  return !remediation.any_firing() && std::ranges::any_of(remediation.alerts, is_of_silent_node);
}

// Of a silent node nobody reports: proofs that its machine is down replace the report.
[[nodiscard]] inline bool rests_on_proofs(Step step, const Remediation& remediation) {
  return step == Step::kOutOfService || (is_of_the_machine(step) && rests_on_silence(remediation));
}

// Nothing else was ever said of the node.
[[nodiscard]] inline bool is_only_silent(const Remediation& remediation) {
  return rests_on_silence(remediation) &&
         std::ranges::all_of(remediation.alerts, [](const AlertEvidence& alert) {
           return alert.fingerprint.starts_with(kSilentOrigin);
         });
}

}  // namespace gpuward::remediator
