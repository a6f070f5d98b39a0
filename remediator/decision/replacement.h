// What follows once the machine of a Remediation is gone for good, and its Node with it: the end,
// or first the wait for a replacement where the policy has one. Pure; the part of decide() for
// which there is no node any more.
#pragma once

#include "remediator/decision/decide.h"

namespace gpuward::remediator {

// Of a Remediation that has done the step terminate. Nothing of ours is on any node, so that every
// wish of an operator's to end it is granted at once.
[[nodiscard]] Decision decide_after_the_end(const Policy& policy, const Remediation& remediation);

}  // namespace gpuward::remediator
