// Puts a node back into service: taint and annotation come off in one patch, and the cordon where
// it is proven ours (safety/ownership). In the table of actions.
#pragma once

#include <optional>

#include "remediator/actions/action.h"

namespace gpuward::remediator {

[[nodiscard]] std::optional<NodePlan> plan_release(const ActionOrder& order,
                                                   const kube::Node& node);

}  // namespace gpuward::remediator
