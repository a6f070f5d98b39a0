// The sources of findings besides the alerts of gpuward's rules, as text: conditions of nodes,
// lines of logs, the advice of a language model. Printed by `gpuwardctl policy explain`. Pure.
#pragma once

#include <string>

#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// Returns several lines; they name the flags that a source needs.
[[nodiscard]] std::string sources_text(const Policy& policy);

}  // namespace gpuward::remediator
