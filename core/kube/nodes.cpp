#include <string>
#include <utility>

#include "core/kube/api.h"
#include "core/kube/decode.h"
#include "core/kube/impl.h"
#include "core/kube/node_patch.h"
#include "core/kube/pager.h"
#include "core/kube/paths.h"

namespace gpuward::kube {
namespace {

// When the condition last took another status; readers count durations from it.
std::string transition_time(const Json& node, const NodeCondition& condition,
                            const std::string& now) {
  const Json& conditions = member_at(member_at(node, "status"), "conditions");
  if (!conditions.is_array()) return now;
  for (const Json& seen : conditions) {
    if (string_at(seen, "type") != condition.type) continue;
    return string_at(seen, "status") == condition.status
               ? string_at(seen, "lastTransitionTime", now)
               : now;
  }
  return now;
}

std::string condition_patch(const NodeCondition& condition, const std::string& transition,
                            const std::string& now) {
  const Json one = {{"type", condition.type},           {"status", condition.status},
                    {"reason", condition.reason},       {"message", condition.message},
                    {"lastTransitionTime", transition}, {"lastHeartbeatTime", now}};
  return dump_json(Json{{"status", {{"conditions", Json::array({one})}}}});
}

}  // namespace

Result<Node> Api::get_node(std::string_view name) {
  auto path = node_path(name);
  if (!path) return std::unexpected(std::move(path.error()));
  Call call;
  call.target = std::move(*path);
  const auto answer = impl_->transport.send(call);
  if (!answer) return std::unexpected(answer.error());
  return decode_node(answer->json);
}

Result<std::vector<Node>> Api::list_nodes(std::string_view label_selector) {
  const ListQuery query{"/api/v1/nodes", std::string(label_selector), {}, impl_->options.page_size};
  return list_all<Node>(impl_->transport, query, decode_node);
}

Result<Node> Api::change_node(const Node& seen, const NodeChange& change) {
  auto path = node_path(seen.meta.name);
  if (!path) return std::unexpected(std::move(path.error()));
  if (seen.meta.resource_version.empty() || seen.meta.uid.empty()) {
    return fail(ErrorKind::kInvalid,
                "node " + seen.meta.name + " cannot be changed: not read from the API server");
  }
  Call call;
  call.method = "PATCH";
  call.target = std::move(*path);
  call.body = node_patch(seen, change);
  call.content_type = kMergePatch;
  if (call.body.empty()) return seen;
  const auto answer = impl_->transport.send(call);
  if (!answer) return std::unexpected(answer.error());
  return decode_node(answer->json);
}

Status Api::set_node_condition(std::string_view node, const NodeCondition& condition) {
  auto path = node_path(node);
  if (!path) return std::unexpected(std::move(path.error()));
  Call get;
  get.target = *path;
  const auto seen = impl_->transport.send(get);
  if (!seen) return std::unexpected(seen.error());
  const std::string now = to_rfc3339(impl_->clock.wall());
  Call patch;
  patch.method = "PATCH";
  patch.target = *path + "/status";
  patch.body = condition_patch(condition, transition_time(seen->json, condition, now), now);
  patch.content_type = kStrategicMergePatch;
  const auto answer = impl_->transport.send(patch);
  if (!answer) return std::unexpected(answer.error());
  return {};
}

}  // namespace gpuward::kube
