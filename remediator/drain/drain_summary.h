// A drain in one line for people, as it stands in a status: counts, and names of the pods that need
// somebody's eyes, ten of a kind at most. No time in it, so that it changes only when something
// has. Pure; used by drain_round.
#pragma once

#include <string>
#include <vector>

#include "remediator/drain/drain_plan.h"
#include "remediator/drain/drain_round.h"

namespace gpuward::remediator {

// "3 pods left: 1 terminating, 1 blocked by a disruption budget: default/web-0 (web-pdb), ..."
[[nodiscard]] std::string describe_left(const std::vector<const PlannedPod*>& left,
                                        const RemovalTries& tries);
// "no pod was evicted, because of 1: default/naked (no controller would make it again)"
[[nodiscard]] std::string describe_refused(const std::vector<const PlannedPod*>& refused);
// "drained; 4 pods stay: 3 of DaemonSets, 1 of the node's own files"
[[nodiscard]] std::string describe_done(const DrainPlan& plan);

}  // namespace gpuward::remediator
