// The policy for one Remediation, with the changes of its node's pool. For a silent node or a
// cloud's announcement, it has their steps instead of the severity's steps. Decisions and the count
// of slots must both use it. Pure.
#pragma once

#include <memory>

#include "core/kube/objects.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// Returns the policy. If `node` is null, the pool is unknown.
[[nodiscard]] std::shared_ptr<const Policy> policy_for(std::shared_ptr<const Policy> policy,
                                                       const kube::Node* node,
                                                       const Remediation& remediation);

}  // namespace gpuward::remediator
