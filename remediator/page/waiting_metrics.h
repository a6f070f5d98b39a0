// Why open Remediations make no progress (decision/waiting), as families. Pure; used by
// page/metrics.
#pragma once

#include <span>
#include <vector>

#include "core/metrics/family.h"
#include "remediator/decision/waiting.h"

namespace gpuward::remediator {

void append_waiting(std::vector<metrics::Family>& families, std::span<const Waiting> waiting);

}  // namespace gpuward::remediator
