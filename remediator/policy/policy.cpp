#include "remediator/policy/policy.h"

#include <algorithm>
#include <array>

namespace gpuward::remediator {
namespace {

constexpr std::array<std::string_view, 2> kControlPlaneLabels = {
    "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"};

bool has_label(const kube::Node& node, std::string_view selector) {
  const auto equals = selector.find('=');
  const auto found = node.meta.labels.find(std::string(selector.substr(0, equals)));
  if (found == node.meta.labels.end()) return false;
  return equals == std::string_view::npos || found->second == selector.substr(equals + 1);
}

}  // namespace

std::optional<std::string> exclusion_of(const Policy& policy, const kube::Node& node) {
  const auto managed = node.meta.labels.find(std::string(kManagedLabel));
  if (managed != node.meta.labels.end() && managed->second == "false") {
    return "the node is labelled gpuward.dev/managed=false";
  }
  if (policy.excluded.nodes.contains(node.meta.name)) return "excluded.nodes names the node";
  for (const std::string& selector : policy.excluded.labels) {
    if (has_label(node, selector)) return "excluded.labels matches the node: " + selector;
  }
  if (!policy.excluded.control_plane) return std::nullopt;
  for (const std::string_view label : kControlPlaneLabels) {
    if (has_label(node, label)) return "the node belongs to the control plane";
  }
  return std::nullopt;
}

std::vector<PlannedStep> steps_for(const Policy& policy, Severity severity) {
  const auto known = policy.steps.find(severity);
  if (known == policy.steps.end()) return {};
  const auto& plan = known->second;
  const auto end = std::ranges::find_if(
      plan, [&](const PlannedStep& step) { return !allows(policy.mode, step.step); });
  return {plan.begin(), end};
}

std::optional<Severity> worse_with_steps(const Policy& policy, Severity severity) {
  for (int next = static_cast<int>(severity) + 1; next <= static_cast<int>(Severity::kIsolate);
       ++next) {
    const auto worse = static_cast<Severity>(next);
    if (!steps_for(policy, worse).empty()) return worse;
  }
  return std::nullopt;
}

}  // namespace gpuward::remediator
