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

std::vector<Step> steps_for(const Policy& policy, Severity severity) {
  std::vector<Step> allowed;
  const auto planned = policy.steps.find(severity);
  if (planned == policy.steps.end()) return allowed;
  std::copy_if(planned->second.begin(), planned->second.end(), std::back_inserter(allowed),
               [&](Step step) { return allows(policy.mode, step); });
  return allowed;
}

}  // namespace gpuward::remediator
