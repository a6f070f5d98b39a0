// The taint by which Kubernetes deletes the pods of a Node by force and detaches their volumes:
// only for machines that are proven off. Its value says that it is ours. Put on by the step
// out-of-service, taken off by execution/out_of_service_taints.
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

// Whoever has put it there.
[[nodiscard]] inline bool is_out_of_service(const kube::Node& node) {
  return std::ranges::any_of(
      node.taints, [](const kube::Taint& taint) { return taint.key == kOutOfServiceKey; });
}

// Whether we have put it there.
[[nodiscard]] inline bool has_our_out_of_service_taint(const kube::Node& node) {
  const kube::Taint ours = out_of_service_taint();
  return std::ranges::any_of(node.taints, [&](const kube::Taint& taint) {
    return taint.key == ours.key && taint.value == ours.value && taint.effect == ours.effect;
  });
}

}  // namespace gpuward::remediator
