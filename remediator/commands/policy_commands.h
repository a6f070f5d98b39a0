// `gpuward-remediator policy check FILE`, `policy explain FILE` and `policy schema`: for those who
// write a policy and want to know what it says before it is in force.
#pragma once

#include <string>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/config/flags.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// What `policy`, the one for it, would do to `node`, at the severity of the flags or at each, worst
// first. A node without a name stands for any with its labels.
[[nodiscard]] std::string explain_policy(const Flags& flags, const Policy& policy,
                                         const kube::Node& node);

// Carries out flags.command; what to print. kInvalid with the faults of the file; kNotFound where
// there is no such file or node.
[[nodiscard]] Result<std::string> run_policy_command(const Flags& flags, Clock& clock);

}  // namespace gpuward::remediator
