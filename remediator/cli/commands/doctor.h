// `gpuwardctl doctor [NODE]`: checks the chain from a finding to its Remediation, and prints the
// first broken link with the command that helps.
#pragma once

#include <string>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cli/commands/command_flags.h"

namespace gpuward::remediator {

struct Diagnosis {
  std::string text;
  bool is_connected = true;
};

// Checks the whole fleet or the node of the flags, and repeats that until no link is broken or
// --wait is over. kNotFound: there is no such node.
[[nodiscard]] Result<Diagnosis> run_doctor(const CommandFlags& flags, kube::Api& api, Clock& clock);

}  // namespace gpuward::remediator
