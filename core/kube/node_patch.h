// The one merge-patch that changes a node: pure, so that every rule about other people's taints is
// a unit test. Used by Api::change_node.
#pragma once

#include <string>
#include <vector>

#include "core/kube/api.h"

namespace gpuward::kube {

// The taints of `seen` after `change`: what is not ours stays byte for byte and in place, a taint
// with the same (key, effect) is replaced where it stands, a new one goes to the end.
[[nodiscard]] std::vector<Taint> taints_after(const std::vector<Taint>& seen,
                                              const NodeChange& change);

// The patch with resourceVersion and uid of `seen`; "" where the change changes nothing.
// `spec.taints` is an atomic list, so it is sent whole or not at all.
[[nodiscard]] std::string node_patch(const Node& seen, const NodeChange& change);

}  // namespace gpuward::kube
