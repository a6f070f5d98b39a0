// Remarks on a valid policy for its author: guards that it switches off, steps that its budgets
// never let start or finish, worse evidence with fewer actions, a drain that is allowed but not
// planned. Pure; shown by `policy check`, `policy explain` and --check-config, and logged at the
// start and at each reload.
#pragma once

#include <string>
#include <vector>

#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// Returns one sentence per remark; empty without remarks.
[[nodiscard]] std::vector<std::string> remarks_on(const Policy& policy);

// Returns one line per remark.
[[nodiscard]] std::string remarks_text(const Policy& policy);

}  // namespace gpuward::remediator
