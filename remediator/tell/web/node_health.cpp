#include "remediator/tell/web/node_health.h"

#include <algorithm>

#include "core/kube/node_names.h"
#include "remediator/tell/texts/last_command.h"
#include "remediator/tell/texts/standing.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kCondition = "GPUProblem";
constexpr std::string_view kStopped = "agent-stopped";

}  // namespace

NodeHealth health_of(const kube::Node& node, WallTime now) {
  NodeHealth health;
  const auto condition = std::ranges::find(node.conditions, kCondition, &kube::NodeCondition::type);
  if (condition != node.conditions.end()) {
    health.is_heard = condition->heartbeat && now - *condition->heartbeat <= kOldAfter;
    if (condition->status == "True") health.found = Severity::kReset;  // or worse
  }
  for (const auto& [key, value] : node.meta.labels) {
    if (is_node_key(key, NodeName::kSeverity)) {
      health.found = std::max(health.found, parse_severity(value).value_or(Severity::kNone));
    } else if (is_node_key(key, NodeName::kStatus) && value == kStopped) {
      health.is_heard = false;
    }
  }
  return health;
}

NodeHealthByName health_of_nodes(const ClusterView& view, WallTime now) {
  NodeHealthByName all;
  const auto state = view.lock();
  for (const auto& [uid, one] : state->fleet.nodes) {
    const auto node = state->nodes.find(one.name);
    if (node != state->nodes.end()) all.emplace(one.name, health_of(*node->second, now));
  }
  return all;
}

Severity severity_of(const NodeHealth& health, const Remediation* last) {
  const bool was_cancelled = last != nullptr && last->status.phase == Phase::kCancelled;
  if (health.is_heard || !was_cancelled || !last->any_firing()) return health.found;
  return std::max(health.found, last->acted_severity());
}

std::string why_not_open(const Remediation* last, WallTime now) {
  if (last == nullptr || last->status.phase != Phase::kCancelled) return "no remediation is open";
  const std::string who = who_asked(*last, now);
  if (!who.empty() || !last->status.closed_at) return who.empty() ? "cancelled" : who;
  return "cancelled " + age_text(*last->status.closed_at, now) + " ago";
}

bool is_about(const Remediation& remediation, const kube::Node& node) {
  return remediation.node_uid.empty() || remediation.node_uid == node.meta.uid;
}

const Remediation* last_of_node(const ViewState& state, const kube::Node& node) {
  const Remediation* last = nullptr;
  const auto [first, end] = state.by_node.equal_range(node.meta.name);
  for (auto one = first; one != end; ++one) {
    const auto found = state.remediations.find(one->second);
    if (found == state.remediations.end()) continue;
    const Remediation& remediation = found->second;
    if (!is_about(remediation, node)) continue;
    if (last == nullptr || remediation.created > last->created) last = &remediation;
  }
  return last;
}

}  // namespace gpuward::remediator
