// Takes a node out of service: taint, cordon and the mark that says whose they are, all of it in
// one patch or nothing. In the table of actions.
#pragma once

#include <optional>

#include "remediator/actions/action.h"

namespace gpuward::remediator {

[[nodiscard]] std::optional<NodePlan> plan_quarantine(const ActionOrder& order,
                                                      const kube::Node& node);

}  // namespace gpuward::remediator
