// Who allows drills on a node: its operator, by a label of the Node, read live before each step.
// Pure; asked by the decision and right before each call.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

inline constexpr std::string_view kDrillLabel = "gpuward.dev/drill";
inline constexpr std::string_view kDrillAllowed = "allowed";  // no other value allows any
inline constexpr std::string_view kDrillRule = "guard.drill";

[[nodiscard]] bool allows_drills(const kube::Node& node);

// Why nothing is done to the node for the Remediation; nullopt where it is no drill, or the node
// allows drills.
[[nodiscard]] std::optional<std::string> objection_to_drill(const Remediation& remediation,
                                                            const kube::Node& node);

// What people are told of a Remediation: of a drill it begins with "drill".
[[nodiscard]] std::string told_as(bool is_drill, std::string message);

}  // namespace gpuward::remediator
