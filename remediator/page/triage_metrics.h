// What became of the lines that a language model was to class, as families. Pure; used by
// page/metrics.
#pragma once

#include <vector>

#include "core/metrics/family.h"
#include "remediator/triage/triage.h"

namespace gpuward::remediator {

void append_triage(std::vector<metrics::Family>& families, const TriageTally& tally);

}  // namespace gpuward::remediator
