// `gpuwardctl replay POLICY`: what a policy would have done about the alerts of the past,
// and when its budgets would have stopped it. For owners who are to trust it with their nodes.
#pragma once

#include <string>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/commands/command_flags.h"

namespace gpuward::remediator {

// What to print. The history comes from --history or from --prometheus.url, the nodes from --nodes
// or, with --kubeconfig or --context, from the cluster. Changes nothing anywhere.
[[nodiscard]] Result<std::string> run_replay(const CommandFlags& flags, Clock& clock);

}  // namespace gpuward::remediator
