#include "remediator/model/gpu_operands.h"

#include <algorithm>
#include <array>

#include "core/kube/gpu_operator_labels.h"
#include "core/kube/gpu_pods.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kBetween = ", ";  // as list_first() writes it

// Not `dra-driver`: the kubelet asks that plugin to unprepare the claims of each pod that ends, and
// pods wait for it without end. Not `client`: by that label the owner of the cluster runs programs
// of his own, perhaps the exporter. Not `gpu-feature-discovery`: it opens the driver for a moment
// each minute, and when it ends it takes labels off the Node by which policies choose pools. Not
// `driver`, `container-toolkit` and `operator-validator`, which hold no GPU.
constexpr std::array<std::string_view, 8> kOperands = {
    "dcgm-exporter",     "dcgm",     "device-plugin", "mig-manager", "node-status-exporter",
    "dcgm-exporter-dra", "dcgm-dra", "dra-validator"};

template <typename Matches>
Operands with_value(const kube::Node& node, const Matches& matches) {
  Operands found;
  for (const std::string_view operand : kOperands) {
    const auto label = node.meta.labels.find(operand_label(operand));
    if (label != node.meta.labels.end() && matches(label->second)) found.emplace_back(operand);
  }
  return found;
}

bool is_running(std::string_view value) { return value == "true"; }
bool is_paused(std::string_view value) { return value == kube::kPausedForReset; }

}  // namespace

std::string operand_label(std::string_view operand) {
  return std::string(kube::kDeployLabels) + std::string(operand);
}

Operands running_operands(const kube::Node& node) { return with_value(node, is_running); }

Operands paused_operands(const kube::Node& node) { return with_value(node, is_paused); }

Operands operands_to_pause(const kube::Node& node) {
  return with_value(node,
                    [](std::string_view value) { return is_running(value) || is_paused(value); });
}

std::string text_of(const Operands& operands) { return list_first(operands, operands.size()); }

Operands operands_in(std::string_view text) {
  const std::string between(kBetween);
  const std::string list = between + std::string(text) + between;
  Operands found;
  for (const std::string_view operand : kOperands) {
    if (list.contains(between + std::string(operand) + between)) found.emplace_back(operand);
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
