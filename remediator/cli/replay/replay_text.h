// The result of a replay, as text for people and as JSON for programs. Pure; used by
// replay_command.
#pragma once

#include <string>

#include "remediator/cli/replay/replay.h"

namespace gpuward::remediator {

// One line per event, then the summary.
[[nodiscard]] std::string replay_table(const ReplayResult& result);
// The same as one JSON object: {"from", "to", "nodes", "alerts", "events": [...], "summary":
// {...}}.
[[nodiscard]] std::string replay_json(const ReplayResult& result);

}  // namespace gpuward::remediator
