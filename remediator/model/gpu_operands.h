// The operands of NVIDIA's GPU operator that hold the GPUs of a node, and the labels of the Node by
// which the operator runs them: each operand is a DaemonSet with the node selector
// `nvidia.com/gpu.deploy.NAME: "true"`. The policy names labels of the owner's own DaemonSets
// (jobs.pause_labels), which then are operands too. The step gpu-reset pauses them with a value of
// its own, which it writes over `true` alone; only that very value is ever taken back. Pure.
// Labels and selectors: https://github.com/NVIDIA/gpu-operator (controllers/state_manager.go,
// assets/, manifests/) at a22dbf6; the way to pause: https://github.com/NVIDIA/k8s-driver-manager.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// By name: "device-plugin"; one of the owner by its whole label, "example.com/gpu-telemetry".
using Operands = std::vector<std::string>;

// Whether it runs on the node: its label is `true`.
[[nodiscard]] bool is_running(const kube::Node& node, std::string_view operand);
// All that run on the node; `own`: labels of the owner.
[[nodiscard]] Operands running_operands(const kube::Node& node, const Operands& own);
// Those that gpuward has paused, whatever the policy says of them today: their labels are
// kube::kPausedForReset.
[[nodiscard]] Operands paused_operands(const kube::Node& node);
// Those that run on the node, or are paused by gpuward.
[[nodiscard]] Operands operands_to_pause(const kube::Node& node, const Operands& own);
[[nodiscard]] std::string operand_label(std::string_view operand);
// Why that label cannot be one of the owner's operands; empty if it can.
[[nodiscard]] std::string objection_to_label(std::string_view label);
// "dcgm-exporter, device-plugin", for records and people; operands_in() reads it.
[[nodiscard]] std::string text_of(const Operands& operands);
[[nodiscard]] Operands operands_in(std::string_view text);

// Which other program has paused operands of the node, as k8s-driver-manager and mig-manager do: it
// changes driver or GPUs. nullopt: none.
[[nodiscard]] std::optional<std::string> objection_to_pause(const kube::Node& node);

// Which pods the labels of `operands` keep on a node, those that are being deleted included: all
// must be gone before the driver finds no client. "NAMESPACE/NAME" each.
[[nodiscard]] std::vector<std::string> pods_of_operands(const std::vector<kube::Pod>& pods,
                                                        const Operands& operands);

// Whether a reset of it is under way and watched, and nothing calls it off.
[[nodiscard]] bool needs_operands_paused(const Remediation& remediation);

}  // namespace gpuward::remediator
