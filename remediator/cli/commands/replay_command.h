// `gpuwardctl replay POLICY`: the steps that a policy would have taken for past alerts, and when
// its budgets would have stopped it. For owners who must decide whether to trust it with their
// nodes.
#pragma once

#include <string>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cli/commands/command_flags.h"

namespace gpuward::remediator {

// Returns the text to print. The history comes from --history or from --prometheus.url, the nodes
// from --nodes or, with --kubeconfig or --context, from the cluster. Changes nothing.
[[nodiscard]] Result<std::string> run_replay(const CommandFlags& flags, Clock& clock);

}  // namespace gpuward::remediator
