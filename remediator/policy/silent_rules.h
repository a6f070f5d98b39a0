// The rules for GPU nodes whose kubelet no longer reports. Pure; read from YAML by
// read_silent_rules(), used by inbox/sources/silent_source and by every decision about such a node.
#pragma once

#include <chrono>
#include <memory>

#include "core/model/severity.h"
#include "core/runtime/yaml.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {

struct Policy;

struct SilentRules {
  bool is_on = false;                                        // The policy has the section `silent`.
  std::chrono::milliseconds after{std::chrono::minutes(5)};  // How long Ready must not be True.
  // Limit for silent nodes in the fleet, or in one pool, zone or other domain. More silent nodes
  // look like a partition.
  Share at_most{1, 10};
  // Steps after the cordon. Each needs two proofs that the machine is down.
  bool reboots = false, terminates = false;
  // For a machine that is off: adds the taint out-of-service before these steps.
  bool moves_pods = false;
  // Severity of a node with a stopped kubelet while Prometheus still reads its exporter.
  Severity kubelet = Severity::kMonitor;
};

// Severity of a silent node: the severity of a node that needs a restart.
inline constexpr Severity kSilentSeverity = Severity::kReboot;

// Reads the section `silent`; docs/configuration.md has its keys. Faults are reported to the file.
[[nodiscard]] SilentRules read_silent_rules(const YamlMap& section);

// Returns the policy for `remediation`. If it rests on silence, the section `silent` gives the
// steps after the cordon, without a drain, because no kubelet could confirm a drain. `policy` is
// the policy of the node (policy_for).
[[nodiscard]] std::shared_ptr<const Policy> policy_for_silence(std::shared_ptr<const Policy> policy,
                                                               const Remediation& remediation);

}  // namespace gpuward::remediator
