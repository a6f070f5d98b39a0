#include "remediator/cluster/view_queries.h"

#include <algorithm>
#include <utility>

#include "core/kube/objects.h"
#include "remediator/model/gpu_operands.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/out_of_service.h"
#include "remediator/model/ownership.h"
#include "remediator/model/remediation_name.h"

namespace gpuward::remediator {
namespace {

using kube::is_older;

// When its newest step was started, or it was opened; nullopt if it is closed.
std::optional<WallTime> at_step_since(const Remediation& remediation) {
  if (!remediation.open()) return std::nullopt;
  std::optional<WallTime> since = remediation.created;
  for (const StepRecord& step : remediation.status.steps) {
    if (step.intent_at && (!since || *since < *step.intent_at)) since = step.intent_at;
  }
  return since;
}

bool has_since(const ViewState& state, const std::set<std::string>& names, WallTime since,
               const std::string& but_for) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    const Remediation& remediation = state.remediations.at(name);
    return remediation.created >= since && remediation.node != but_for;
  });
}

std::vector<Remediation> of_uid(const ViewState& state, const std::string& node_uid) {
  std::vector<Remediation> result;
  for (auto [it, end] = state.by_uid.equal_range(node_uid); it != end; ++it)
    result.push_back(state.remediations.at(it->second));
  return result;
}

bool may_be_orphaned(const ViewState& state, const kube::Node& node) {
  const bool is_tainted = has_our_taint_or_annotation(node);
  if (!is_tainted && !node.unschedulable) return false;  // most nodes
  for (auto [it, end] = state.by_uid.equal_range(node.meta.uid); it != end; ++it) {
    if (state.remediations.at(it->second).open()) return false;
  }
  return is_tainted || left_cordon(of_uid(state, node.meta.uid), node) != nullptr;
}

}  // namespace

bool is_own_change(const ClusterView& view, const std::string& node,
                   const std::string& resource_version) {
  const auto state = view.lock();
  const auto found = state->own_changes.find(node);
  return found != state->own_changes.end() && found->second == resource_version;
}

bool are_at(const ClusterView& view, const std::string& name, const std::string& version,
            const std::string& node_version) {
  const auto state = view.lock();
  const auto known = state->remediations.find(name);
  if (known == state->remediations.end() || known->second.resource_version != version) return false;
  const auto node = state->nodes.find(known->second.node);
  return node != state->nodes.end() && node->second->meta.resource_version == node_version;
}

KnownVersions versions_known(const ClusterView& view, const std::string& remediation,
                             const std::string& node) {
  const auto state = view.lock();
  const auto record = state->remediations.find(remediation);
  const auto machine = state->nodes.find(node);
  return {.remediation = record == state->remediations.end() ? "" : record->second.resource_version,
          .node = machine == state->nodes.end() ? "" : machine->second->meta.resource_version};
}

std::optional<std::string> other_with_provider_id(const ClusterView& view, const kube::Node& node) {
  if (node.provider_id.empty()) return std::nullopt;
  const auto state = view.lock();
  for (const auto& [name, other] : state->nodes) {
    if (name != node.meta.name && other->provider_id == node.provider_id) return name;
  }
  return std::nullopt;
}

bool has_untainted_since(const ClusterView& view, WallTime since, const std::string& but_for) {
  const auto state = view.lock();
  return has_since(*state, state->untainted, since, but_for);
}

bool has_unrecorded_since(const ClusterView& view, WallTime since, const std::string& but_for) {
  const auto state = view.lock();
  return has_since(*state, state->unrecorded, since, but_for);
}

std::map<std::string, std::string> remediation_versions(const ClusterView& view) {
  const auto state = view.lock();
  std::map<std::string, std::string> versions;
  for (const auto& [name, known] : state->remediations)
    versions.emplace(name, known.resource_version);
  return versions;
}

std::optional<NodeIdentity> identity_in(const ClusterView& view, const std::string& name) {
  const auto state = view.lock();
  const auto found = state->nodes.find(name);
  return found == state->nodes.end() ? std::nullopt : std::optional(identity_of(*found->second));
}

std::shared_ptr<const kube::Node> last_node(const ClusterView& view, const std::string& name) {
  const auto state = view.lock();
  const auto found = state->nodes.find(name);
  return found == state->nodes.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<const kube::Node>> nodes_since(const ClusterView& view,
                                                           WallTime since) {
  std::vector<std::shared_ptr<const kube::Node>> made;
  {
    const auto state = view.lock();
    for (const auto& [name, node] : state->nodes) {
      if (node->meta.created >= since) made.push_back(node);
    }
  }
  std::ranges::sort(made, {}, [](const auto& node) {
    return std::pair(*node->meta.created, std::string_view(node->meta.name));
  });
  return made;
}

std::optional<Remediation> last_remediation(const ClusterView& view, const std::string& name) {
  const auto state = view.lock();
  const auto found = state->remediations.find(name);
  return found == state->remediations.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Remediation> remediations_of(const ClusterView& view, const std::string& node_uid) {
  std::vector<Remediation> result = of_uid(*view.lock(), node_uid);
  std::sort(result.begin(), result.end(), [](const Remediation& a, const Remediation& b) {
    return count_in(a.name) < count_in(b.name);
  });
  return result;
}

std::vector<Remediation> others_open(const ClusterView& view, const Remediation& remediation) {
  std::vector<Remediation> result;
  const auto state = view.lock();
  auto [it, end] = state->by_uid.equal_range(remediation.node_uid);
  for (; it != end; ++it) {
    const Remediation& other = state->remediations.at(it->second);
    if (other.open() && other.name != remediation.name) result.push_back(other);
  }
  return result;
}

int last_number_of(const ClusterView& view, const std::string& node_uid) {
  const auto state = view.lock();
  const auto found = state->last_numbers.find(node_uid);
  return found == state->last_numbers.end() ? 0 : found->second;
}

bool knows_version(const ClusterView& view, const std::string& name,
                   const std::string& resource_version) {
  const auto state = view.lock();
  const auto found = state->remediations.find(name);
  if (found == state->remediations.end()) return false;
  const std::string& known = found->second.resource_version;
  return known == resource_version || is_older(resource_version, known);
}

std::vector<std::string> open_for(const ClusterView& view, const std::string& node_name) {
  const auto state = view.lock();
  std::vector<std::string> names;
  auto [it, end] = state->by_node.equal_range(node_name);
  for (; it != end; ++it) {
    if (state->remediations.at(it->second).wants_us()) names.push_back(it->second);
  }
  return names;
}

std::vector<std::string> nodes_with_open(const ClusterView& view) {
  const auto state = view.lock();
  std::set<std::string> names;
  for (const auto& [name, remediation] : state->remediations) {
    if (remediation.wants_us()) names.insert(remediation.node);
  }
  return {names.begin(), names.end()};
}

std::vector<ReturnedMachine> returned_machines(const ClusterView& view) {
  const auto state = view.lock();
  return find_returned(state->nodes, state->remediations);
}

std::set<std::string> failed_before(const ClusterView& view, const std::set<std::string>& names) {
  const auto state = view.lock();
  return failed_before(names, state->nodes, state->remediations);
}

std::vector<Remediation> earlier_of(const ClusterView& view, const NodeIdentity& node) {
  const auto state = view.lock();
  return earlier_remediations(node, state->nodes, state->remediations);
}

std::vector<std::string> nodes_with_orphaned_taints(const ClusterView& view) {
  const auto state = view.lock();
  std::vector<std::string> names;
  for (const auto& [name, node] : state->nodes) {
    if (may_be_orphaned(*state, *node)) names.push_back(name);
  }
  return names;
}

std::map<std::string, bool> nodes_out_of_service(const ClusterView& view) {
  const auto state = view.lock();
  std::map<std::string, bool> nodes;
  for (const auto& [name, node] : state->nodes) {
    if (!has_our_out_of_service_taint(*node)) continue;
    const auto [first, last] = state->by_uid.equal_range(node->meta.uid);
    nodes[name] = std::any_of(
        first, last, [&](const auto& one) { return state->remediations.at(one.second).open(); });
  }
  return nodes;
}

std::map<std::string, bool> nodes_with_paused_operands(const ClusterView& view) {
  const auto state = view.lock();
  std::map<std::string, bool> nodes;
  for (const auto& [name, node] : state->nodes) {
    if (paused_operands(*node).empty()) continue;
    const auto [first, last] = state->by_uid.equal_range(node->meta.uid);
    nodes[name] = std::any_of(first, last, [&](const auto& one) {
      return needs_operands_paused(state->remediations.at(one.second));
    });
  }
  return nodes;
}

std::vector<ClusterView::Count> count_remediations(const ClusterView& view) {
  const auto state = view.lock();
  std::map<std::pair<Phase, Severity>, ClusterView::Count> counts;
  for (const auto& [name, remediation] : state->remediations) {
    if (remediation.is_drill()) continue;
    const Phase phase = remediation.status.phase;
    ClusterView::Count& count = counts[{phase, remediation.severity}];
    count.phase = phase;
    count.severity = remediation.severity;
    ++count.number;
    if (awaits_approval(remediation)) ++count.unanswered;
    const auto since = at_step_since(remediation);
    if (since && (!count.oldest_step || *since < *count.oldest_step)) count.oldest_step = since;
  }
  std::vector<ClusterView::Count> result;
  for (const auto& [key, count] : counts) result.push_back(count);
  return result;
}

std::map<std::string, std::size_t> count_drills(const ClusterView& view) {
  const auto state = view.lock();
  std::map<std::string, std::size_t> by_phase;
  for (const auto& [name, remediation] : state->remediations) {
    if (remediation.is_drill()) ++by_phase[std::string(to_string(remediation.status.phase))];
  }
  return by_phase;
}

bool has_fault_waiting_for_budget(const ClusterView& view) {
  const auto state = view.lock();
  return std::ranges::any_of(state->remediations, [](const auto& known) {
    const Remediation& one = known.second;
    return one.open() && one.status.rule.starts_with("budget.") && !one.is_drill();
  });
}

std::map<std::string, std::size_t> count_left_in_service(const ClusterView& view) {
  const auto state = view.lock();
  std::map<std::string, std::size_t> by_rule;
  for (const auto& [name, remediation] : state->remediations) {
    if (is_left_in_service(remediation.status) && !remediation.is_drill())
      ++by_rule[remediation.status.rule];
  }
  return by_rule;
}

void for_each_remediation(const ClusterView& view,
                          const std::function<void(const Remediation&)>& use) {
  const auto state = view.lock();
  for (const auto& [name, remediation] : state->remediations) use(remediation);
}

void with_fleet(const ClusterView& view, const std::function<void(const Fleet&)>& use) {
  use(view.lock()->fleet);
}

std::size_t fleet_size(const ClusterView& view) { return view.lock()->fleet.nodes.size(); }

}  // namespace gpuward::remediator
