#include <string>
#include <utility>

#include "core/kube/api.h"
#include "core/kube/impl.h"
#include "core/kube/names.h"
#include "core/runtime/digest.h"
#include "core/runtime/encoding.h"
#include "core/runtime/text.h"

namespace gpuward::kube {
namespace {

constexpr std::size_t kLongestNodePart = 253 - 17;  // of the event's name: ".<16 hex>" follows
constexpr std::size_t kLongestEventMessage = 1024;

// `<node>.<16 hex>`, as kubectl and the kubelet name them; new for every call, the same for its
// retries.
std::string name_of(const NodeEvent& event, WallTime now) {
  std::string node = event.node.substr(0, kLongestNodePart);
  while (!node.empty() && (node.back() == '.' || node.back() == '-')) node.pop_back();
  const Digest digest =
      digest_of(std::to_string(now.time_since_epoch().count()) + event.reason + event.message);
  return node + "." + to_hex(view_of(digest).substr(0, 8));
}

// A Node has no namespace: its events belong into `default`, and `kubectl describe node` finds them
// by UID.
std::string body_of(const NodeEvent& event, WallTime now) {
  const std::string stamp = to_rfc3339(now);
  return dump_json(
      {{"apiVersion", "v1"},
       {"kind", "Event"},
       {"metadata", {{"name", name_of(event, now)}, {"namespace", "default"}}},
       {"involvedObject",
        {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", event.node}, {"uid", event.node_uid}}},
       {"type", event.warning ? "Warning" : "Normal"},
       {"reason", event.reason},
       {"message", to_valid_utf8(event.message, kLongestEventMessage)},
       {"source", {{"component", event.component}}},
       {"reportingComponent", event.component},
       {"firstTimestamp", stamp},
       {"lastTimestamp", stamp},
       {"count", 1}});
}

}  // namespace

Status Api::create_event(const NodeEvent& event) {
  if (auto valid = validate_node_name(event.node); !valid) return valid;
  auto created = impl_->transport.send_only({.method = "POST",
                                             .target = "/api/v1/namespaces/default/events",
                                             .body = body_of(event, impl_->clock.wall())});
  // A retry after a lost response: the event exists already.
  if (!created && created.error().kind == ErrorKind::kAlreadyExists) return {};
  return created;
}

}  // namespace gpuward::kube
