// Others who have begun to repair, replace or reconfigure the node: gpuward yields to them and
// takes no pods and no machine away meanwhile. Pure; asked before every disruptive step.
#pragma once

#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Nodes that are younger are still being set up.
inline constexpr std::chrono::minutes kStartupGrace{10};

// Who is at work on the node and how that is seen; nullopt where nobody is.
[[nodiscard]] std::optional<std::string> other_repairer(const kube::Node& node, WallTime now);

}  // namespace gpuward::remediator
