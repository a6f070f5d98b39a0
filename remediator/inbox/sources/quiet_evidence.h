// Ends findings from log lines after a while without another such line. Pure; used by
// inbox/sources/loki_source and inbox/sources/triage_source.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "remediator/model/evidence.h"

namespace gpuward::remediator {

// The time of the last line of each finding, in nanoseconds since 1970, by fingerprint.
using LastLines = std::map<std::string, std::int64_t>;

// Adds `more` to `into`, and keeps the later time of each finding.
void merge(LastLines& into, const LastLines& more);

struct QuietTime {
  std::int64_t now = 0;  // Present time by the clock of the lines' times.
  std::chrono::milliseconds after{0};
  WallTime ended_at;  // Present time by gpuward's own clock.
};

// Returns the `firing` signals that no line has repeated for `quiet.after`, as ended signals. For a
// signal that is not in `last`, the time counts from its start.
[[nodiscard]] std::vector<AlertSignal> quiet_signals(std::vector<AlertSignal> firing,
                                                     const LastLines& last, const QuietTime& quiet);

}  // namespace gpuward::remediator
