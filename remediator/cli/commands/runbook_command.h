// `gpuwardctl runbook [ALERT]`: prints the runbook of an alert from alerts/runbooks, for users with
// a shell and no browser.
#pragma once

#include <string>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cli/commands/command_flags.h"

namespace gpuward::remediator {

// Returns Markdown. Without a name it lists all alerts with their meanings, or (kName) only the
// names. kNotFound if there is no such alert: the message suggests a similar one.
[[nodiscard]] Result<std::string> run_runbook_command(const CommandFlags& flags, Clock& clock);

}  // namespace gpuward::remediator
