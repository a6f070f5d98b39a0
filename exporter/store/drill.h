// A finding that somebody has injected for a game day (docs/game-day.md). It stands beside the
// findings and never among them: labels, taint, condition and counters of the node do not know it.
// Kept in memory alone, so that a restart ends it. Made by watch/drills, published as metrics.
#pragma once

#include "core/model/finding.h"

namespace gpuward::exporter {

struct Drill {
  Finding finding;
  WallTime until;  // ends by itself
};

}  // namespace gpuward::exporter
