// Whether a condition of the node is enough to drain it, where the policy says so (`drain: true`):
// the way over from Draino. Never enough for more than a drain. Pure; used by decision/step_gates.
#pragma once

#include <chrono>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// How old the heartbeat of such a condition may be: node-problem-detector sends one in 5 minutes. A
// detector that has died leaves its last word standing.
inline constexpr std::chrono::minutes kConditionLasts{10};

// Of the node as it is now: the Remediation's worst evidence is a condition that the node still
// has.
[[nodiscard]] bool condition_justifies_drain(const Policy& policy, const Remediation& remediation,
                                             const kube::Node& node, WallTime now);

}  // namespace gpuward::remediator
