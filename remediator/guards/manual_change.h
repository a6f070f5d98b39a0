// Operators win: what somebody undid by hand stays undone for this Remediation. Asked before every
// decision that would put something on the node.
#pragma once

#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// What an operator took back of what this Remediation had put on the node; nullopt where all of it
// stands.
[[nodiscard]] std::optional<std::string> manual_change(const Remediation& remediation,
                                                       const kube::Node& node);

}  // namespace gpuward::remediator
