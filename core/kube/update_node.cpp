#include "core/kube/update_node.h"

#include "core/kube/redo_on_conflict.h"

namespace gpuward::kube {
namespace {

Result<Node> try_once(Api& api, const NodeIdentity& identity, const NodeDecision& decide) {
  auto node = api.get_node(identity.name);
  if (!node) return node;
  if (!identity.uid.empty() && node->meta.uid != identity.uid) {
    return fail(ErrorKind::kGone, "node " + identity.name +
                                      " was re-created under the same name: its UID is " +
                                      node->meta.uid + ", expected " + identity.uid);
  }
  const auto change = decide(*node);
  if (!change) return node;
  return api.change_node(*node, *change);
}

}  // namespace

Result<Node> update_node(Api& api, const NodeIdentity& identity, const NodeDecision& decide,
                         Clock& clock, std::stop_token stop) {
  return redo_on_conflict(clock, [&] { return try_once(api, identity, decide); }, stop);
}

}  // namespace gpuward::kube
