// A drain in one line for people, in the Remediation, in `explain` and in Events: every pod that is
// left is counted under the reason why it is left, and ten are named, first those that an operator
// should look at. The line has no time in it, so that it changes only when the drain does. Pure;
// used by drain_round.
#pragma once

#include <string>
#include <vector>

#include "remediator/drain/drain_plan.h"
#include "remediator/drain/drain_round.h"

namespace gpuward::remediator {

struct LeftPod {
  const PlannedPod& pod;
  const RemovalTry& known;
  bool is_overdue = false;  // its grace period is over, and it still terminates
  bool is_later = false;    // its wave has not begun
};

// "3 pods left: 1 blocked by disruption budget web-pdb: default/web-0; 2 terminating: ..."
[[nodiscard]] std::string describe_left(const std::vector<LeftPod>& left);
// "no pod was evicted, because of 1 pod that cannot be evicted: default/naked (no controller would
// recreate it)"
[[nodiscard]] std::string describe_refused(const std::vector<const PlannedPod*>& refused);
// "drained; 4 pods stay: 3 of DaemonSets, 1 of the node's static pods"
[[nodiscard]] std::string describe_done(const DrainPlan& plan);

}  // namespace gpuward::remediator
