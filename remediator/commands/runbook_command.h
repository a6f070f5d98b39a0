// `gpuwardctl runbook [ALERT]`: the runbook of an alert as its file in alerts/runbooks has
// it, for those who have a shell and no browser.
#pragma once

#include <string>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/commands/command_flags.h"

namespace gpuward::remediator {

// Markdown; without a name all of them with what each means, or (kName) the names alone. kNotFound
// where there is no such alert: the message has the one that is like it.
[[nodiscard]] Result<std::string> run_runbook_command(const CommandFlags& flags, Clock& clock);

}  // namespace gpuward::remediator
