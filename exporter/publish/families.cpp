#include "exporter/publish/families.h"

namespace gpuward::exporter {

Families exporter_families(const Snapshot& snapshot, const xid::Catalogue& catalogue,
                           const MetricsOptions& options) {
  Families families;
  append_event_families(snapshot, catalogue, families);
  append_finding_families(snapshot, families);
  append_check_families(snapshot, families);
  append_gpu_families(snapshot, options, families);
  append_worker_families(snapshot, families);
  append_node_families(snapshot, families);
  append_announcement_families(snapshot, families);
  append_pod_families(snapshot, families);
  append_rdma_families(snapshot, options, families);
  if (options.dcgm_compat) append_dcgm_families(snapshot, options, families);
  append_self_families(snapshot, families);
  return families;
}

}  // namespace gpuward::exporter
