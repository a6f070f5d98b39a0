// `gpuwardctl stop [REASON]` and `start`: the switch that stops every step on every node, under the
// name and the rights of whoever calls.
#pragma once

#include <string>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/commands/command_flags.h"

namespace gpuward::remediator {

// On the ConfigMap of the switch: since when, who, and why.
inline constexpr std::string_view kStoppedAnnotation = "gpuward.dev/stopped";

// What to print. Where there is no switch it is made; one that is there keeps what else it holds,
// and one that stands so already keeps who has turned it.
[[nodiscard]] Result<std::string> stop_fleet(const CommandFlags& flags, kube::Api& api,
                                             Clock& clock);
[[nodiscard]] Result<std::string> start_fleet(const CommandFlags& flags, kube::Api& api,
                                              Clock& clock);

}  // namespace gpuward::remediator
