// The one merge-patch that changes a node. Pure, so that unit tests cover every rule about foreign
// taints. Used by Api::change_node.
#pragma once

#include <string>
#include <vector>

#include "core/kube/api.h"

namespace gpuward::kube {

// Returns the taints of `seen` after `change`: foreign taints stay byte for byte and in place, a
// taint with the same (key, effect) is replaced in its place, a new one is appended.
[[nodiscard]] std::vector<Taint> taints_after(const std::vector<Taint>& seen,
                                              const NodeChange& change);

// Returns the patch with resourceVersion and uid of `seen`; "" if nothing changes. `spec.taints` is
// an atomic list, so it is sent whole or not at all.
[[nodiscard]] std::string node_patch(const Node& seen, const NodeChange& change);

}  // namespace gpuward::kube
