// The operands of NVIDIA's GPU operator that keep GPUs open, and the labels of the Node by which
// the operator runs them. Each operand is a DaemonSet with the node selector
// `nvidia.com/gpu.deploy.NAME: "true"`. The policy may name labels of the cluster owner's own
// DaemonSets (jobs.pause_labels), which are then operands too. The step gpu-reset pauses an operand
// by replacing the value `true` with its own value, and restores only labels that still have that
// value. Pure. Labels and selectors: https://github.com/NVIDIA/gpu-operator
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

// Operands by name, for example "device-plugin". The owner's operands have their whole label as
// name, for example "example.com/gpu-telemetry".
using Operands = std::vector<std::string>;

// Returns whether the operand runs on the node: its label is `true`.
[[nodiscard]] bool is_running(const kube::Node& node, std::string_view operand);
// Returns all operands that run on the node. `own`: labels of the owner.
[[nodiscard]] Operands running_operands(const kube::Node& node, const Operands& own);
// Returns the operands that gpuward has paused: their label has the value kube::kPausedForReset.
// The policy need not name them any more.
[[nodiscard]] Operands paused_operands(const kube::Node& node);
// Returns the operands that run on the node or that gpuward has paused.
[[nodiscard]] Operands operands_to_pause(const kube::Node& node, const Operands& own);
[[nodiscard]] std::string operand_label(std::string_view operand);
// Returns why the label cannot be one of the owner's operands; empty if it can.
[[nodiscard]] std::string objection_to_label(std::string_view label);
// Returns the names as text for records and people, for example "dcgm-exporter, device-plugin".
// operands_in() reads the text.
[[nodiscard]] std::string text_of(const Operands& operands);
[[nodiscard]] Operands operands_in(std::string_view text);

// Returns which other program has paused operands of the node; nullopt if none has.
// k8s-driver-manager and mig-manager pause operands when they change the driver or the GPUs.
[[nodiscard]] std::optional<std::string> objection_to_pause(const kube::Node& node);

// Returns the pods that the labels of `operands` keep on a node, as "NAMESPACE/NAME", including
// pods that are being deleted. The driver has a client until all of them are gone.
[[nodiscard]] std::vector<std::string> pods_of_operands(const std::vector<kube::Pod>& pods,
                                                        const Operands& operands);

// Returns whether the Remediation's GPU reset is in progress and watched, and no operator cancels
// it.
[[nodiscard]] bool needs_operands_paused(const Remediation& remediation);

}  // namespace gpuward::remediator
