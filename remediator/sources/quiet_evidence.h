// Findings from lines end by silence: after a while without another line. Pure; used by
// sources/loki_source and sources/triage_source.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "remediator/model/evidence.h"

namespace gpuward::remediator {

// By fingerprint: the time of the last line with that finding, in nanoseconds since 1970.
using LastLines = std::map<std::string, std::int64_t>;

// Keeps the later time for each.
void merge(LastLines& into, const LastLines& more);

struct QuietTime {
  std::int64_t now = 0;  // by the clock of the lines' times
  std::chrono::milliseconds after{0};
  WallTime ended_at;  // by our own clock
};

// Returns those of the `firing` ones that no line has repeated for so long, as ended ones. For one
// that is not in `last`, the time counts from its start.
[[nodiscard]] std::vector<AlertSignal> quiet_signals(std::vector<AlertSignal> firing,
                                                     const LastLines& last, const QuietTime& quiet);

}  // namespace gpuward::remediator
