// Whether drills are allowed on a node. Its operator allows them by a label of the Node, which
// gpuward reads before each step. Pure; used by the decision and right before each call.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

inline constexpr std::string_view kDrillLabel = "gpuward.dev/drill";
inline constexpr std::string_view kDrillAllowed = "allowed";  // no other value allows drills
inline constexpr std::string_view kDrillRule = "guard.drill";

[[nodiscard]] bool allows_drills(const kube::Node& node);

// Returns why the Remediation may not act on the node; nullopt if it is not a drill, or if the node
// allows drills.
[[nodiscard]] std::optional<std::string> objection_to_drill(const Remediation& remediation,
                                                            const kube::Node& node);

// Returns a message for people; for a drill it begins with "drill".
[[nodiscard]] std::string told_as(bool is_drill, std::string message);

}  // namespace gpuward::remediator
