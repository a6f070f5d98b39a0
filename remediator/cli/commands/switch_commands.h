// `gpuwardctl stop [REASON]` and `start`: the switch that stops every step on every node, under the
// name and the rights of the caller.
#pragma once

#include <string>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cli/commands/command_flags.h"

namespace gpuward::remediator {

// Return the text to print. They create a missing switch. An existing one keeps its other keys, and
// one that is already in that position keeps the name of the user who set it.
[[nodiscard]] Result<std::string> stop_fleet(const CommandFlags& flags, kube::Api& api,
                                             Clock& clock);
[[nodiscard]] Result<std::string> start_fleet(const CommandFlags& flags, kube::Api& api,
                                              Clock& clock);

}  // namespace gpuward::remediator
