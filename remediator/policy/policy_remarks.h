// Remarks on a policy without faults, for its author: guards that it switches off, steps that its
// budgets keep from ever beginning or ending, worse evidence that does less, a drain that is
// allowed and not planned. Pure; shown by `policy check`, `policy explain` and --check-config, and
// logged at the start and at each reload.
#pragma once

#include <string>
#include <vector>

#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// A sentence each; empty where there is nothing to remark on.
[[nodiscard]] std::vector<std::string> remarks_on(const Policy& policy);

// A line each.
[[nodiscard]] std::string remarks_text(const Policy& policy);

}  // namespace gpuward::remediator
