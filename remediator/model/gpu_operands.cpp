#include "remediator/model/gpu_operands.h"

#include <algorithm>
#include <array>

#include "core/kube/gpu_operator_labels.h"
#include "core/kube/gpu_pods.h"
#include "core/kube/names.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kBetween = ", ";  // as list_first() writes it

// Not `dra-driver`: the kubelet asks that plugin to unprepare the claims of each pod that ends, and
// without it pods wait forever. Not `client`: by that label the owner of the cluster runs programs
// of their own, perhaps the exporter. Not `gpu-feature-discovery`: it opens the driver for a moment
// each minute, and when it ends it removes labels from the Node by which policies choose pools. Not
// `driver`, `container-toolkit` and `operator-validator`, which hold no GPU.
constexpr std::array<std::string_view, 8> kOperands = {
    "dcgm-exporter",     "dcgm",     "device-plugin", "mig-manager", "node-status-exporter",
    "dcgm-exporter-dra", "dcgm-dra", "dra-validator"};

std::string value_of(const kube::Node& node, std::string_view operand) {
  const auto label = node.meta.labels.find(operand_label(operand));
  return label == node.meta.labels.end() ? "" : label->second;
}

bool is_own(std::string_view operand) { return operand.contains('/'); }

}  // namespace

std::string operand_label(std::string_view operand) {
  return is_own(operand) ? std::string(operand)
                         : std::string(kube::kDeployLabels) + std::string(operand);
}

std::string objection_to_label(std::string_view label) {
  constexpr std::size_t kLongestName = 63;
  const auto slash = label.find('/');
  const std::string_view name = slash == std::string_view::npos ? "" : label.substr(slash + 1);
  const bool is_label = kube::validate_node_name(label.substr(0, slash)) && !name.empty() &&
                        name.size() <= kLongestName && !name.contains('/') && !name.contains(' ') &&
                        !name.contains(',');
  if (!is_label) return "each entry must be a label such as example.com/gpu-telemetry";
  const std::string_view prefix = label.substr(0, slash);
  if (label.starts_with(kube::kDeployLabels))
    return "the step pauses operands of the GPU operator by itself";
  const auto is_of = [&](std::string_view domain) {
    return prefix == domain || prefix.ends_with("." + std::string(domain));
  };
  if (is_of("kubernetes.io") || is_of("k8s.io") || is_of("gpuward.dev"))
    return std::string(label) + " is a label of Kubernetes or of gpuward";
  return {};
}

bool is_running(const kube::Node& node, std::string_view operand) {
  return value_of(node, operand) == "true";
}

Operands running_operands(const kube::Node& node, const Operands& own) {
  Operands running = operands_to_pause(node, own);
  std::erase_if(running, [&](const std::string& operand) { return !is_running(node, operand); });
  return running;
}

Operands paused_operands(const kube::Node& node) {
  Operands paused;
  for (const auto& [key, value] : node.meta.labels) {
    if (value != kube::kPausedForReset) continue;
    const bool is_of_operator = key.starts_with(kube::kDeployLabels);
    paused.push_back(is_of_operator ? key.substr(kube::kDeployLabels.size()) : key);
  }
  return paused;
}

Operands operands_to_pause(const kube::Node& node, const Operands& own) {
  Operands all(kOperands.begin(), kOperands.end());
  all.insert(all.end(), own.begin(), own.end());
  std::erase_if(all, [&](const std::string& operand) {
    const std::string value = value_of(node, operand);
    return value != "true" && value != kube::kPausedForReset;
  });
  return all;
}

std::string text_of(const Operands& operands) { return list_first(operands, operands.size()); }

Operands operands_in(std::string_view text) {
  Operands found;
  while (!text.empty()) {
    const auto end = std::min(text.find(kBetween), text.size());
    const std::string_view operand = text.substr(0, end);
    text.remove_prefix(std::min(end + kBetween.size(), text.size()));
    const bool is_known = is_own(operand)
                              ? objection_to_label(operand).empty()
                              : std::ranges::find(kOperands, operand) != kOperands.end();
    if (is_known) found.emplace_back(operand);
  }
  return found;
}

std::optional<std::string> objection_to_pause(const kube::Node& node) {
  for (const auto& [key, value] : node.meta.labels) {
    const bool is_pause = key.starts_with(kube::kDeployLabels) && value.contains(kube::kPause);
    if (is_pause && value != kube::kPausedForReset)
      return "another program has paused operands of the GPU operator: " + key + "=" + value;
  }
  return std::nullopt;
}

std::vector<std::string> pods_of_operands(const std::vector<kube::Pod>& pods,
                                          const Operands& operands) {
  std::vector<std::string> names;
  for (const kube::Pod& pod : pods) {
    const bool is_kept = std::ranges::any_of(operands, [&](const std::string& operand) {
      return pod.node_selector.contains(operand_label(operand));
    });
    if (is_kept && !kube::has_ended(pod)) names.push_back(pod.meta.ns + "/" + pod.meta.name);
  }
  std::ranges::sort(names);
  return names;
}

bool needs_operands_paused(const Remediation& remediation) {
  const StepRecord* const reset = remediation.status.find(Step::kGpuReset);
  // In any other phase no replica watches the step: the node may be excluded, or held.
  if (remediation.status.phase != Phase::kResetting || reset == nullptr) return false;
  if (remediation.wish.cancel || remediation.wish.pause) return false;
  return reset->result == StepResult::kIntended || reset->result == StepResult::kRunning;
}

}  // namespace gpuward::remediator
