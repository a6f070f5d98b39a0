// The policy for one Remediation: with the changes of its node's pool, and with the steps for a
// silent node or a cloud's announcement instead of its severity's. Decisions and the count of slots
// must use the same. Pure.
#pragma once

#include <memory>

#include "core/kube/objects.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// `node` may be null: then the pool is unknown.
[[nodiscard]] std::shared_ptr<const Policy> policy_for(std::shared_ptr<const Policy> policy,
                                                       const kube::Node* node,
                                                       const Remediation& remediation);

}  // namespace gpuward::remediator
