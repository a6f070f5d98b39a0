// The recovery of a node that would be held for an operator: it runs the policy's diagnostics, and
// returns the node if they pass. Pure; used by decide() and, for a step that has begun, by
// step_gates.
#pragma once

#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

struct Recovery {
  const PlannedStep* next = nullptr;  // Next step in the policy's list; null: the node stays held.
  // Why the node stays held; empty if the policy has no recovery for it.
  std::string objection = {};
};

// Returns the state of the recovery. `policy` is the policy for this node. Without a recovery the
// node would be held at the acted severity.
[[nodiscard]] Recovery recovery_for(const Policy& policy, const Remediation& remediation,
                                    const kube::Node& node);

// Returns whether the recovery has begun. The severity's own steps are then over.
[[nodiscard]] bool is_in_recovery(const Policy& policy, const Remediation& remediation);

// Returns the list under which a step began: the recovery, or the severity's own steps.
[[nodiscard]] const std::vector<PlannedStep>& list_begun(const Policy& policy,
                                                         const Remediation& remediation,
                                                         const StepRecord& record);

}  // namespace gpuward::remediator
