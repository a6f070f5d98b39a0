// Others who have begun to repair, replace or reconfigure the node: gpuward yields to them and
// takes no pods and no machine away meanwhile. Pure; asked before every disruptive step.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Who is at work on the node and how that is seen; nullopt where nobody is. A node that was
// registered less than `startup_grace` ago is still being set up.
[[nodiscard]] std::optional<std::string> other_repairer(const kube::Node& node, WallTime now,
                                                        std::chrono::milliseconds startup_grace);

}  // namespace gpuward::remediator
