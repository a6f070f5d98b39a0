// An operator's approval of one step. It is bound to the Remediation, the step, the node, its
// instance, the evidence and the request, and lasts an hour. An approval of another step or of
// yesterday does not count. Pure; used by decide/step_gates. Admission checks who may approve
// (manifests).
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

inline constexpr std::chrono::hours kApprovalLasts{1};

struct ApprovalAnswer {
  ApprovalRecord record;  // for the status: the request, and the approval once given
  bool is_given = false;
};

[[nodiscard]] ApprovalAnswer approval_of(const Remediation& remediation, const kube::Node& node,
                                         Step step, WallTime now);

}  // namespace gpuward::remediator
