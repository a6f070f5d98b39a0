#include "core/kube/update_node.h"

#include <utility>

#include "core/runtime/backoff.h"

namespace gpuward::kube {
namespace {

constexpr int kTries = 10;
constexpr BackoffPolicy kBetweenConflicts{std::chrono::milliseconds(20),
                                          std::chrono::milliseconds(2'000), 2.0};

Result<Node> try_once(Api& api, const NodeIdentity& identity, const NodeDecision& decide) {
  auto node = api.get_node(identity.name);
  if (!node) return node;
  if (!identity.uid.empty() && node->meta.uid != identity.uid) {
    return fail(ErrorKind::kGone, "node " + identity.name + " is not the one meant: its UID is " +
                                      node->meta.uid + ", expected " + identity.uid +
                                      " (re-created under the same name)");
  }
  const auto change = decide(*node);
  if (!change) return node;
  return api.change_node(*node, *change);
}

}  // namespace

Result<Node> update_node(Api& api, const NodeIdentity& identity, const NodeDecision& decide,
                         Clock& clock, std::stop_token stop) {
  Backoff backoff(kBetweenConflicts);
  for (int tried = 1;; ++tried) {
    auto changed = try_once(api, identity, decide);
    if (changed || changed.error().kind != ErrorKind::kConflict) return changed;
    if (tried == kTries)
      return with_context("after " + std::to_string(kTries) + " tries", std::move(changed.error()));
    if (!clock.sleep_for(backoff.next(), stop))
      return fail(ErrorKind::kCancelled, "stopped while changing node " + identity.name);
  }
}

}  // namespace gpuward::kube
