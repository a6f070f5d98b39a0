// The policy that a command is given: a file, or standard input for `-`. A ConfigMap and Helm
// values are recognised by their keys; the policy in them is read. Used by `gpuwardctl policy` and
// `replay`.
#pragma once

#include <string>

#include "core/model/result.h"
#include "remediator/commands/command_flags.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

struct GivenPolicy {
  Policy policy;
  std::string name;           // "policy.yaml", "stdin, key policy.yaml of the ConfigMap"
  bool is_empty = false;      // it has no key
  bool is_of_values = false;  // Helm's: the chart adds the keys of remediator.preset
};

// kInvalid with the faults of the policy, one a line, or if nothing in the text is a policy;
// kNotFound: there is no such file.
[[nodiscard]] Result<GivenPolicy> read_given_policy(const CommandFlags& flags);

}  // namespace gpuward::remediator
