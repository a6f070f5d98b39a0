// The exporter's metrics, as a pure function of what the store holds: names and labels are a
// contract (docs), so everything that Prometheus sees is in families*.cpp.
#pragma once

#include <vector>

#include "core/metrics/family.h"
#include "core/xid/catalogue.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

// All of gpuward_*; process_* and build_info come from core/metrics.
[[nodiscard]] std::vector<metrics::Family> exporter_families(const Snapshot& snapshot,
                                                             const xid::Catalogue& catalogue);

// The parts, each a page's worth.
void append_event_families(const Snapshot& snapshot, const xid::Catalogue& catalogue,
                           std::vector<metrics::Family>& families);
void append_finding_families(const Snapshot& snapshot, std::vector<metrics::Family>& families);
void append_self_families(const Snapshot& snapshot, std::vector<metrics::Family>& families);

}  // namespace gpuward::exporter
