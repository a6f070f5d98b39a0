// The policy that a command gets: a file, or standard input for `-`. The keys of a ConfigMap and of
// Helm values are recognised, and the policy in them is read. Used by `gpuwardctl policy` and
// `replay`.
#pragma once

#include <string>

#include "core/model/result.h"
#include "remediator/cli/commands/command_flags.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

struct GivenPolicy {
  Policy policy;
  std::string name;           // "policy.yaml", "stdin, key policy.yaml of the ConfigMap"
  bool is_empty = false;      // it has no key
  bool is_of_values = false;  // Helm values: the chart adds the keys of remediator.preset
};

// kInvalid with the faults of the policy, one a line, or if the text contains no policy; kNotFound:
// there is no such file.
[[nodiscard]] Result<GivenPolicy> read_given_policy(const CommandFlags& flags);

}  // namespace gpuward::remediator
