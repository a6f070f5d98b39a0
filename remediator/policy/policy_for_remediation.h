// The policy as it is for one Remediation: with what the pool of its node changes, and with the
// steps of a silent node or of what a cloud has announced in place of its severity's. Who decides
// and who counts slots must read the same. Pure.
#pragma once

#include <memory>

#include "core/kube/objects.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// `node` is null where there is none: then no pool is known.
[[nodiscard]] std::shared_ptr<const Policy> policy_for(std::shared_ptr<const Policy> policy,
                                                       const kube::Node* node,
                                                       const Remediation& remediation);

}  // namespace gpuward::remediator
