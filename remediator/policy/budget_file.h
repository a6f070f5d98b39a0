// The section `budgets` of the policy file; its keys and defaults are described in budget_file.cpp.
// Used by the policy's reader, which reports all faults of the file together.
#pragma once

#include "core/runtime/yaml.h"
#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {

// Absent keys keep their defaults. Faults are reported to the file (`file:line: field: what`),
// whose finish() says them; the value is then not to be used.
[[nodiscard]] BudgetLimits read_budgets(const YamlMap& budgets);

}  // namespace gpuward::remediator
