// The operands of NVIDIA's GPU operator that hold the GPUs of a node, and the labels of the Node by
// which the operator runs them: each operand is a DaemonSet with the node selector
// `nvidia.com/gpu.deploy.NAME: "true"`. The policy may name labels of the cluster owner's own
// DaemonSets (jobs.pause_labels), which are then operands too. The step gpu-reset pauses an operand
// by replacing the value `true` with a value of its own, and restores only labels that have that
// very value. Pure. Labels and selectors: https://github.com/NVIDIA/gpu-operator
// (controllers/state_manager.go, assets/, manifests/) at a22dbf6; how to pause:
// https://github.com/NVIDIA/k8s-driver-manager.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Operands by name: "device-plugin"; the owner's by their whole label, "example.com/gpu-telemetry".
using Operands = std::vector<std::string>;

// Whether the operand runs on the node: its label is `true`.
[[nodiscard]] bool is_running(const kube::Node& node, std::string_view operand);
// Returns all operands that run on the node; `own`: labels of the owner.
[[nodiscard]] Operands running_operands(const kube::Node& node, const Operands& own);
// Returns the operands that gpuward has paused, whether or not the policy still names them: their
// labels are kube::kPausedForReset.
[[nodiscard]] Operands paused_operands(const kube::Node& node);
// Returns the operands that run on the node or are paused by gpuward.
[[nodiscard]] Operands operands_to_pause(const kube::Node& node, const Operands& own);
[[nodiscard]] std::string operand_label(std::string_view operand);
// Says why the label cannot be one of the owner's operands; empty if it can.
[[nodiscard]] std::string objection_to_label(std::string_view label);
// "dcgm-exporter, device-plugin", for records and people; operands_in() reads it.
[[nodiscard]] std::string text_of(const Operands& operands);
[[nodiscard]] Operands operands_in(std::string_view text);

// Says which other program has paused operands of the node, as k8s-driver-manager and mig-manager
// do when they change the driver or the GPUs. nullopt if none has.
[[nodiscard]] std::optional<std::string> objection_to_pause(const kube::Node& node);

// Returns the pods that the labels of `operands` keep on a node, as "NAMESPACE/NAME", those being
// deleted included: all must be gone before the driver has no client.
[[nodiscard]] std::vector<std::string> pods_of_operands(const std::vector<kube::Pod>& pods,
                                                        const Operands& operands);

// Whether a GPU reset of it is in progress and watched, and nothing cancels it.
[[nodiscard]] bool needs_operands_paused(const Remediation& remediation);

}  // namespace gpuward::remediator
