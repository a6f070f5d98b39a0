// `gpuwardctl version`: the version of this program, and that of the remediator if a cluster has
// one. Used by cli/ctl/commands.cpp.
#pragma once

#include <string>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cli/commands/command_flags.h"

namespace gpuward::remediator {

// Returns one line without a cluster. An unreadable version of the remediator is not an error: the
// line has the reason.
[[nodiscard]] Result<std::string> print_version(const CommandFlags& flags, Clock& clock);

}  // namespace gpuward::remediator
