// The recovery of a node that would be held for an operator: the policy's diagnostics, and its
// return if it has passed them. Pure; used by decide() and, for a step under way, by step_gates.
#pragma once

#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

struct Recovery {
  const PlannedStep* next = nullptr;  // in the policy's list; null: the node stays held
  std::string objection = {};  // why it stays held; empty if the policy has no recovery for it
};

// `policy` is the one for this node, which is otherwise held at the acted severity.
[[nodiscard]] Recovery recovery_for(const Policy& policy, const Remediation& remediation,
                                    const kube::Node& node);

// Whether it has begun: the severity's own steps are then over.
[[nodiscard]] bool is_in_recovery(const Policy& policy, const Remediation& remediation);

// The list under which a step began: the recovery, or the severity's own.
[[nodiscard]] const std::vector<PlannedStep>& list_begun(const Policy& policy,
                                                         const Remediation& remediation,
                                                         const StepRecord& record);

}  // namespace gpuward::remediator
