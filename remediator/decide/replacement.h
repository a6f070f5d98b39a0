// The decisions after the machine of a Remediation and its Node are gone: close the Remediation, or
// first wait for a replacement if the policy requires one. Pure; the part of decide() without a
// Node.
#pragma once

#include "remediator/decide/decide.h"

namespace gpuward::remediator {

// Decides for a Remediation that has done the step terminate. gpuward has no taint or cordon on any
// node then, so it grants an operator's request to end the Remediation at once.
[[nodiscard]] Decision decide_after_the_end(const Policy& policy, const Remediation& remediation);

}  // namespace gpuward::remediator
