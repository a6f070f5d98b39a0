#include "remediator/cli/replay/replay_cluster.h"

#include <utility>

#include "remediator/cluster/view_queries.h"
#include "remediator/model/fleet.h"

namespace gpuward::remediator {
namespace {

kube::Node as_healthy(const kube::Node& seen) {
  kube::Node node;
  node.meta.name = seen.meta.name;
  node.meta.uid = seen.meta.uid.empty() ? "uid-" + seen.meta.name : seen.meta.uid;
  node.meta.labels = seen.meta.labels;
  node.provider_id = seen.provider_id.empty() ? "replay:///" + seen.meta.name : seen.provider_id;
  node.boot_id = "boot-" + seen.meta.name;
  node.resources = seen.resources;
  node.owners = seen.owners;
  kube::NodeCondition ready;
  ready.type = "Ready";
  ready.status = "True";
  node.conditions = {ready};
  return node;
}

}  // namespace

ReplayCluster::ReplayCluster(const BudgetLimits& budgets, const std::vector<kube::Node>& nodes)
    : budgets_(budgets) {
  for (const kube::Node& node : nodes) put(as_healthy(node));
}

void ReplayCluster::put(kube::Node node) {
  const auto census =
      is_gpu_node(node) ? std::optional(fleet_node(node, place_keys(budgets_))) : std::nullopt;
  view_.put_node(node, census);
  std::string name = node.meta.name;
  nodes_.insert_or_assign(std::move(name), std::move(node));
}

void ReplayCluster::remove(const std::string& node) {
  view_.remove_node(node);
  nodes_.erase(node);
}

std::optional<Remediation> ReplayCluster::open_of(const std::string& node) const {
  for (const std::string& name : open_for(view_, node)) {
    auto remediation = last_remediation(view_, name);
    if (remediation && remediation->open()) return remediation;
  }
  return std::nullopt;
}

// A machine of the same kind replaces it.
std::string ReplayCluster::replace(const kube::Node& old) {
  kube::Node node = as_healthy(old);
  node.meta.name += "-replacement-" + std::to_string(++replacements_);
  node.meta.uid += "-" + std::to_string(replacements_);
  node.provider_id += "-" + std::to_string(replacements_);
  remove(old.meta.name);
  std::string name = node.meta.name;
  put(std::move(node));
  return name;
}

std::optional<kube::Node> ReplayCluster::find(const std::string& node) const {
  const auto known = nodes_.find(node);
  return known == nodes_.end() ? std::nullopt : std::optional(known->second);
}

void apply(const kube::NodeChange& change, kube::Node& node) {
  const auto same = [](const kube::Taint& taint) {
    return [&taint](const kube::Taint& other) {
      return other.key == taint.key && other.effect == taint.effect;
    };
  };
  for (const auto& [key, value] : change.set_labels) node.meta.labels[key] = value;
  for (const auto& [key, value] : change.set_annotations) node.meta.annotations[key] = value;
  for (const std::string& key : change.remove_labels) node.meta.labels.erase(key);
  for (const std::string& key : change.remove_annotations) node.meta.annotations.erase(key);
  for (const kube::Taint& taint : change.remove_taints) std::erase_if(node.taints, same(taint));
  for (const kube::Taint& taint : change.set_taints) {
    std::erase_if(node.taints, same(taint));
    node.taints.push_back(taint);
  }
  node.unschedulable = change.unschedulable.value_or(node.unschedulable);
}

}  // namespace gpuward::remediator
