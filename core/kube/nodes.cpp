#include <string>
#include <utility>

#include "core/kube/api.h"
#include "core/kube/decode.h"
#include "core/kube/impl.h"
#include "core/kube/node_patch.h"
#include "core/kube/pager.h"
#include "core/kube/paths.h"
#include "core/runtime/json.h"

namespace gpuward::kube {
namespace {

// When the condition last changed its status; readers count durations from it.
WallTime transition_time(const Node& seen, const NodeCondition& condition, WallTime now) {
  for (const NodeCondition& before : seen.conditions) {
    if (before.type == condition.type && before.status == condition.status)
      return before.transition.value_or(now);
  }
  return now;
}

std::string condition_patch(const Node& seen, const NodeCondition& condition, WallTime now) {
  const Json one = {{"type", condition.type},
                    {"status", condition.status},
                    {"reason", condition.reason},
                    {"message", condition.message},
                    {"lastTransitionTime", to_rfc3339(transition_time(seen, condition, now))},
                    {"lastHeartbeatTime", to_rfc3339(now)}};
  Json patch = {{"status", {{"conditions", Json::array({one})}}}};
  if (!seen.meta.uid.empty()) patch["metadata"] = {{"uid", seen.meta.uid}};
  return dump_json(patch);
}

}  // namespace

Result<Node> Api::get_node(std::string_view name) {
  return impl_->transport.send({.target = node_path(name)}, decode_node);
}

Result<std::vector<Node>> Api::list_nodes(std::string_view label_selector) {
  const ListQuery query{"/api/v1/nodes", std::string(label_selector), {}, impl_->options.page_size};
  return list_all<Node>(impl_->transport, query, decode_node);
}

Result<Node> Api::change_node(const Node& seen, const NodeChange& change) {
  auto path = node_path(seen.meta.name);
  if (!path) return std::unexpected(std::move(path.error()));
  if (seen.meta.resource_version.empty() || seen.meta.uid.empty()) {
    return fail(ErrorKind::kInvalid, "node " + seen.meta.name +
                                         " cannot be changed: it was not read from the API server");
  }
  std::string patch = node_patch(seen, change);
  if (patch.empty()) return seen;
  return impl_->transport.send({.method = "PATCH",
                                .target = std::move(path),
                                .body = std::move(patch),
                                .content_type = kMergePatch},
                               decode_node);
}

Status Api::set_node_condition(std::string_view node, const NodeCondition& condition) {
  const auto seen = get_node(node);
  if (!seen) return std::unexpected(seen.error());
  const auto changed = set_node_condition(*seen, condition);
  if (!changed) return std::unexpected(changed.error());
  return {};
}

Result<Node> Api::set_node_condition(const Node& seen, const NodeCondition& condition) {
  return impl_->transport.send({.method = "PATCH",
                                .target = below(node_path(seen.meta.name), "status"),
                                .body = condition_patch(seen, condition, impl_->clock.wall()),
                                .content_type = kStrategicMergePatch},
                               decode_node);
}

}  // namespace gpuward::kube
