// Other controllers that have begun to repair, replace or reconfigure the node. gpuward yields to
// them: meanwhile it evicts no pods, disrupts no machine and returns no node. Pure; used before
// every disruptive step and before every return.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/repairer_signs.h"

namespace gpuward::remediator {

// Returns the other repairer that works on the node, and its sign there; nullopt if there is none.
[[nodiscard]] std::optional<std::string> repairer_at_work(const kube::Node& node,
                                                          std::span<const RepairerSign> signs);

// The same as repairer_at_work(); in addition, a node that was registered less than `startup_grace`
// ago is still being set up.
[[nodiscard]] std::optional<std::string> other_repairer(const kube::Node& node,
                                                        std::span<const RepairerSign> signs,
                                                        WallTime now,
                                                        std::chrono::milliseconds startup_grace);

}  // namespace gpuward::remediator
