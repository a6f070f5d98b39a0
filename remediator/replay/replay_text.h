// What a replay has come to, in words for people and as JSON for programs. Pure; used by
// replay_command.
#pragma once

#include <string>

#include "remediator/replay/replay.h"

namespace gpuward::remediator {

// One line an event, then what it comes to.
[[nodiscard]] std::string replay_table(const ReplayResult& result);
// The same as one JSON object: {"from", "to", "nodes", "alerts", "events": [...], "summary":
// {...}}.
[[nodiscard]] std::string replay_json(const ReplayResult& result);

}  // namespace gpuward::remediator
