#include "remediator/guards/condition_evidence.h"

#include <algorithm>

namespace gpuward::remediator {
namespace {

bool is_fresh(const kube::Node& node, const ConditionSeen& seen, WallTime now) {
  const auto condition =
      std::ranges::find(node.conditions, seen.rule.type, &kube::NodeCondition::type);
  return condition != node.conditions.end() && condition->heartbeat &&
         now - *condition->heartbeat <= kConditionLasts;
}

}  // namespace

bool condition_justifies_drain(const Policy& policy, const Remediation& remediation,
                               const kube::Node& node, WallTime now) {
  const auto seen = seen_conditions(policy.conditions, node);
  return std::ranges::any_of(remediation.alerts, [&](const AlertEvidence& alert) {
    if (!alert.firing() || alert.severity < remediation.acted_severity()) return false;
    return std::ranges::any_of(seen, [&](const ConditionSeen& condition) {
      return condition.rule.drains && condition.status == condition.rule.status &&
             fingerprint_of(condition.rule) == alert.fingerprint && is_fresh(node, condition, now);
    });
  });
}

}  // namespace gpuward::remediator
