// `gpuwardctl reset`: removes one of gpuward's taints from all nodes, with the rights of the
// calling operator. Nodes with an open Remediation are refused, because it would only set the taint
// again; --cancel cancels it first.
#pragma once

#include <string>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cli/commands/command_flags.h"

namespace gpuward::remediator {

struct ResetResult {
  std::string table;  // a line for each node with the taint
  bool all_done = true;
};

// kInvalid for a taint that gpuward does not own.
[[nodiscard]] Result<Foreseen> foresee_reset(const CommandFlags& flags, kube::Api& api,
                                             Clock& clock);
[[nodiscard]] Result<ResetResult> reset_taints(const CommandFlags& flags, kube::Api& api,
                                               Clock& clock);

}  // namespace gpuward::remediator
