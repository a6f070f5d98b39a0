// Reads a node, decides and patches; decides again on what it reads then where somebody else was
// quicker: conflicts are normal (the kubelet's status writes bump the same resourceVersion),
// endless ones are not. Used by the exporter and `gpuwardctl reset`. The remediator's steps call
// Api::change_node: a conflict ends the look there, and the next one decides.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/kube/api.h"

namespace gpuward::kube {

struct NodeIdentity {
  std::string name;
  std::string uid;  // empty: whichever node has the name
};

// What is to change on the node as it is now; nullopt: nothing, and nothing is written. Called once
// a try.
using NodeDecision = std::function<std::optional<NodeChange>(const Node&)>;

// The node as it is afterwards. kGone: the name belongs to another node by now; kConflict: still
// lost after 10 tries; kCancelled; otherwise what the API server said.
[[nodiscard]] Result<Node> update_node(Api& api, const NodeIdentity& identity,
                                       const NodeDecision& decide, Clock& clock,
                                       std::stop_token stop = {});

}  // namespace gpuward::kube
