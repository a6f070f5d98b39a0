// What a Node's condition Ready says: well, not well, or nobody answers. Pure; used by the sweep,
// the steps of the remediator and its census.
#pragma once

#include <algorithm>

#include "core/kube/objects.h"

namespace gpuward::kube {

[[nodiscard]] inline bool is_ready(const Node& node) {
  return std::ranges::any_of(node.conditions, [](const NodeCondition& condition) {
    return condition.type == "Ready" && condition.status == "True";
  });
}

// Its kubelet does not answer: nobody confirms that a pod has ended.
[[nodiscard]] inline bool is_unreachable(const Node& node) {
  return std::ranges::any_of(node.conditions, [](const NodeCondition& condition) {
    return condition.type == "Ready" && condition.status == "Unknown";
  });
}

}  // namespace gpuward::kube
