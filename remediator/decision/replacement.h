// The decisions after the machine of a Remediation and its Node are gone: the end, or first the
// wait for a replacement if the policy has one. Pure; the part of decide() for which there is no
// longer a node.
#pragma once

#include "remediator/decision/decide.h"

namespace gpuward::remediator {

// For a Remediation that has done the step terminate. gpuward has nothing on any node, so it grants
// every request of an operator to end it at once.
[[nodiscard]] Decision decide_after_the_end(const Policy& policy, const Remediation& remediation);

}  // namespace gpuward::remediator
