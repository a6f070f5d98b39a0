// A finding that an operator has injected for a game day (docs/game-day.md). It is kept beside the
// findings and never among them: labels, taint, condition and counters of the node ignore it. It is
// only in memory, so a restart ends it. Made by watch/drills, published as metrics.
#pragma once

#include "core/model/finding.h"

namespace gpuward::exporter {

struct Drill {
  Finding finding;
  WallTime until;  // the drill ends then
};

}  // namespace gpuward::exporter
