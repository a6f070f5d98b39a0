#include "remediator/policy/policy_for_remediation.h"

#include <utility>

namespace gpuward::remediator {

std::shared_ptr<const Policy> policy_for(std::shared_ptr<const Policy> policy,
                                         const kube::Node* node, const Remediation& remediation) {
  if (node != nullptr) policy = policy_for(std::move(policy), node->meta.labels);
  policy = policy_for_silence(std::move(policy), remediation);
  return policy_about(std::move(policy), remediation);
}

}  // namespace gpuward::remediator
