// Puts a node back into service: what is ours comes off in one patch, a foreign cordon stays. In
// the table of actions.
#pragma once

#include <optional>

#include "remediator/actions/action.h"

namespace gpuward::remediator {

[[nodiscard]] std::optional<NodePlan> plan_release(const ActionOrder& order,
                                                   const kube::Node& node);

}  // namespace gpuward::remediator
