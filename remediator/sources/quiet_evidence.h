// Findings out of lines end by silence: after a while without another line. Pure; used by
// sources/loki_source and sources/triage_source.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "remediator/model/evidence.h"

namespace gpuward::remediator {

// By fingerprint: when a line last said so, in nanoseconds since 1970.
using LastLines = std::map<std::string, std::int64_t>;

// The later of both for each.
void merge(LastLines& into, const LastLines& more);

struct QuietTime {
  std::int64_t now = 0;  // of the clock that the lines have their times from
  std::chrono::milliseconds after{0};
  WallTime ended_at;  // by our own
};

// Those of the `firing` ones that no line has repeated for so long, as ended ones. What is not in
// `last` counts from its start.
[[nodiscard]] std::vector<AlertSignal> quiet_signals(std::vector<AlertSignal> firing,
                                                     const LastLines& last, const QuietTime& quiet);

}  // namespace gpuward::remediator
