// Reads a node, decides and patches; if another client was quicker, reads and decides again.
// Conflicts are normal (the kubelet's status writes change the same resourceVersion), but the
// number of tries is limited. Used by the exporter and `gpuwardctl reset`. The remediator's steps
// call Api::change_node instead: a conflict ends their round, and the next round decides.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/kube/api.h"

namespace gpuward::kube {

struct NodeIdentity {
  std::string name;
  std::string uid;  // empty: any node with the name
};

// Returns the changes for the current node; nullopt: none, nothing is written. Called once a try.
using NodeDecision = std::function<std::optional<NodeChange>(const Node&)>;

// Returns the node afterwards. kGone: the name belongs to another node now; kConflict: still lost
// after 10 tries; kCancelled; otherwise the error of the API server.
[[nodiscard]] Result<Node> update_node(Api& api, const NodeIdentity& identity,
                                       const NodeDecision& decide, Clock& clock,
                                       std::stop_token stop = {});

}  // namespace gpuward::kube
