// What is done about GPU nodes whose kubelet reports no more. Pure; read from YAML by
// read_silent_rules(), used by sources/silent_source and by every decision about such a node.
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
  bool is_on = false;                                        // the policy has the section
  std::chrono::milliseconds after{std::chrono::minutes(5)};  // that Ready is not True
  // More silent nodes than that, in the fleet or in one pool, zone or other domain, look like a
  // partition.
  Share at_most{1, 10};
  // What follows the cordon, each on two proofs that the machine is down.
  bool reboots = false, terminates = false;
  bool moves_pods = false;  // before these, of a machine that is off: the taint out-of-service
  // Of a node whose kubelet is down while Prometheus reads its exporter.
  Severity kubelet = Severity::kMonitor;
};

// A node that is silent is as bad as one that needs a restart.
inline constexpr Severity kSilentSeverity = Severity::kReboot;

// The section `silent`; docs/configuration.md has its keys. Faults are reported to the file.
[[nodiscard]] SilentRules read_silent_rules(const YamlMap& section);

// The policy as it is for `remediation`: where that rests on silence, what follows the cordon is
// what the section `silent` says, without a drain, which nobody could confirm. `policy` is that of
// the node (policy_for).
[[nodiscard]] std::shared_ptr<const Policy> policy_for_silence(std::shared_ptr<const Policy> policy,
                                                               const Remediation& remediation);

}  // namespace gpuward::remediator
