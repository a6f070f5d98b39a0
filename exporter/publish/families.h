// The exporter's metrics, as a pure function of the store's content. Names and labels are a
// contract, declared in families*.cpp next to the code that computes the values.
#pragma once

#include "core/metrics/family.h"
#include "core/xid/catalogue.h"
#include "exporter/publish/metrics_options.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

using metrics::Families;

// Returns all gpuward_* families; process_* and build_info come from core/metrics.
[[nodiscard]] Families exporter_families(const Snapshot& snapshot, const xid::Catalogue& catalogue,
                                         const MetricsOptions& options = {});

// The parts. docs/metrics.md has a table for each, and one more for the families served on request.
void append_event_families(const Snapshot& snapshot, const xid::Catalogue& catalogue,
                           Families& families);
void append_finding_families(const Snapshot& snapshot, Families& families);
void append_check_families(const Snapshot& snapshot, Families& families);
void append_gpu_families(const Snapshot& snapshot, const MetricsOptions& options,
                         Families& families);
void append_worker_families(const Snapshot& snapshot, Families& families);
void append_node_families(const Snapshot& snapshot, Families& families);
void append_announcement_families(const Snapshot& snapshot, Families& families);
void append_pod_families(const Snapshot& snapshot, Families& families);
void append_rdma_families(const Snapshot& snapshot, const MetricsOptions& options,
                          Families& families);
void append_dcgm_families(const Snapshot& snapshot, const MetricsOptions& options,
                          Families& families);
void append_self_families(const Snapshot& snapshot, Families& families);

}  // namespace gpuward::exporter
