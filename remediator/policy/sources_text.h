// What a policy would take for a finding besides the alerts of gpuward's rules, in words:
// conditions of nodes, lines of logs, the advice of a language model. Printed by
// `gpuwardctl policy explain`. Pure.
#pragma once

#include <string>

#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// Several lines; what flags have to switch on names them.
[[nodiscard]] std::string sources_text(const Policy& policy);

}  // namespace gpuward::remediator
