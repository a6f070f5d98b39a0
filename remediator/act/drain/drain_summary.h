// Describes a drain in one line for people, for the Remediation, `explain` and Events. Every pod
// that is left is counted under its reason. Ten pods are named, first the pods that need an
// operator. The line has no time in it, so that it changes only when the drain changes. Pure; used
// by drain_round.
#pragma once

#include <string>
#include <vector>

#include "remediator/act/drain/drain_plan.h"
#include "remediator/act/drain/drain_round.h"

namespace gpuward::remediator {

struct LeftPod {
  const PlannedPod& pod;
  const RemovalTry& known;
  bool is_overdue = false;  // The grace period is over, and the pod still terminates.
  bool is_later = false;    // The wave of the pod has not begun.
};

// Returns, for example, "3 pods left: 1 blocked by disruption budget web-pdb: default/web-0; 2
// terminating: ..."
[[nodiscard]] std::string describe_left(const std::vector<LeftPod>& left);
// Returns, for example, "no pod was evicted, because of 1 pod that cannot be evicted: default/naked
// (no controller would recreate it)".
[[nodiscard]] std::string describe_refused(const std::vector<const PlannedPod*>& refused);
// Returns, for example, "drained; 4 pods stay: 3 of DaemonSets, 1 of the node's static pods".
[[nodiscard]] std::string describe_done(const DrainPlan& plan);

}  // namespace gpuward::remediator
