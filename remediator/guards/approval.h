// An operator's approval to one step. It is bound to the Remediation, the step, the node, its
// instance, the evidence and the request, and lasts an hour: an approval to something else, or of
// yesterday, is none. Pure; asked by decision/step_gates. Who may approve is checked by admission
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
  ApprovalRecord
      record;  // to be kept in the status: the request, and the approval once it is there
  bool is_given = false;
};

[[nodiscard]] ApprovalAnswer approval_of(const Remediation& remediation, const kube::Node& node,
                                         Step step, WallTime now);

}  // namespace gpuward::remediator
