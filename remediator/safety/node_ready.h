// What a Node's condition Ready says, as decisions and steps read it: well, not well, or nobody
// answers. Pure.
#pragma once

#include <algorithm>

#include "core/kube/objects.h"

namespace gpuward::remediator {

[[nodiscard]] inline bool is_ready(const kube::Node& node) {
  return std::ranges::any_of(node.conditions, [](const kube::NodeCondition& condition) {
    return condition.type == "Ready" && condition.status == "True";
  });
}

// Its kubelet does not answer: nobody confirms that a pod has ended.
[[nodiscard]] inline bool is_unreachable(const kube::Node& node) {
  return std::ranges::any_of(node.conditions, [](const kube::NodeCondition& condition) {
    return condition.type == "Ready" && condition.status == "Unknown";
  });
}

}  // namespace gpuward::remediator
