// `gpuwardctl reset`: takes a taint of ours off all nodes, with the rights of the operator
// who calls. Nodes that a Remediation is open for are refused, because it would only put it on
// again; with --cancel it is cancelled first.
#pragma once

#include <string>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/commands/command_flags.h"

namespace gpuward::remediator {

struct ResetResult {
  std::string table;  // a line for each node that has the taint
  bool all_done = true;
};

// kInvalid for a taint that gpuward does not own.
[[nodiscard]] Result<Foreseen> foresee_reset(const CommandFlags& flags, kube::Api& api,
                                             Clock& clock);
[[nodiscard]] Result<ResetResult> reset_taints(const CommandFlags& flags, kube::Api& api,
                                               Clock& clock);

}  // namespace gpuward::remediator
