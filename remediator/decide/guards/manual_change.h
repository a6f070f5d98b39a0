// Operators win: if an operator has undone a change, this Remediation does not repeat it. Used
// before every decision that would put something on the node.
#pragma once

#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Returns which change of this Remediation to the node an operator has undone; nullopt if there is
// none.
[[nodiscard]] std::optional<std::string> manual_change(const Remediation& remediation,
                                                       const kube::Node& node);

}  // namespace gpuward::remediator
