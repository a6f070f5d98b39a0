// `gpuwardctl policy check FILE`, `policy explain FILE` and `policy schema`: for users who write a
// policy and want to know its effect before it is in force.
#pragma once

#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cli/commands/command_flags.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// Returns the effect of `policy`, from the file `name`, on `node` at the severity of the flags, or
// at each with the worst first. A node without a name means any node with its labels.
[[nodiscard]] std::string explain_policy(const std::string& name, const CommandFlags& flags,
                                         const Policy& policy, const kube::Node& node);

// Each returns the text to print. kInvalid with the faults of the file; kNotFound if there is no
// such file or node. A node's name is looked up in the cluster of the flags.
[[nodiscard]] Result<std::string> check_policy(const CommandFlags& flags, Clock& clock);
[[nodiscard]] Result<std::string> explain_policy_file(const CommandFlags& flags, Clock& clock);
[[nodiscard]] Result<std::string> print_policy_schema(const CommandFlags& flags, Clock& clock);

}  // namespace gpuward::remediator
