// The taint by which Kubernetes deletes the pods of a Node by force and detaches their volumes. It
// is only for machines that are proven off. Its value shows that gpuward added it. The step
// out-of-service adds the taint, act/out_of_service_taints removes it.
// https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/kube/objects.h"

namespace gpuward::remediator {

inline constexpr std::string_view kOutOfServiceKey = "node.kubernetes.io/out-of-service";

[[nodiscard]] inline kube::Taint out_of_service_taint() {
  return {
      .key = std::string(kOutOfServiceKey), .value = "gpuward", .effect = "NoExecute", .raw = {}};
}

// Returns whether the node has the taint, no matter who added it.
[[nodiscard]] inline bool is_out_of_service(const kube::Node& node) {
  return std::ranges::any_of(
      node.taints, [](const kube::Taint& taint) { return taint.key == kOutOfServiceKey; });
}

// Returns whether gpuward added the taint.
[[nodiscard]] inline bool has_our_out_of_service_taint(const kube::Node& node) {
  const kube::Taint ours = out_of_service_taint();
  return std::ranges::any_of(node.taints, [&](const kube::Taint& taint) {
    return taint.key == ours.key && taint.value == ours.value && taint.effect == ours.effect;
  });
}

}  // namespace gpuward::remediator
