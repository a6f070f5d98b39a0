// What the sources that are asked (sources/source_poll) have found, as families. Pure; used by
// page/metrics.
#pragma once

#include <span>
#include <vector>

#include "core/metrics/family.h"
#include "remediator/sources/source_poll.h"

namespace gpuward::remediator {

void append_sources(std::vector<metrics::Family>& families, std::span<const SourceCounts> sources);

}  // namespace gpuward::remediator
