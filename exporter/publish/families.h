// The exporter's metrics, as a pure function of what the store holds: names and labels are a
// contract (docs/metrics.md), so everything that Prometheus sees is in families*.cpp.
#pragma once

#include <vector>

#include "core/metrics/family.h"
#include "core/xid/catalogue.h"
#include "exporter/publish/metrics_options.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

using Families = std::vector<metrics::Family>;

// All of gpuward_*; process_* and build_info come from core/metrics.
[[nodiscard]] Families exporter_families(const Snapshot& snapshot, const xid::Catalogue& catalogue,
                                         const MetricsOptions& options = {});

// The parts, each a page's worth.
void append_event_families(const Snapshot& snapshot, const xid::Catalogue& catalogue,
                           Families& families);
void append_finding_families(const Snapshot& snapshot, Families& families);
void append_check_families(const Snapshot& snapshot, Families& families);
void append_gpu_families(const Snapshot& snapshot, const MetricsOptions& options,
                         Families& families);
void append_worker_families(const Snapshot& snapshot, Families& families);
void append_node_families(const Snapshot& snapshot, Families& families);
void append_pod_families(const Snapshot& snapshot, Families& families);
void append_rdma_families(const Snapshot& snapshot, const MetricsOptions& options,
                          Families& families);
void append_dcgm_families(const Snapshot& snapshot, const MetricsOptions& options,
                          Families& families);
void append_self_families(const Snapshot& snapshot, Families& families);

}  // namespace gpuward::exporter
