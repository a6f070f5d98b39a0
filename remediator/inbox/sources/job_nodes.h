// Reports on the other nodes that run the jobs of a silent node. If a job has lost several nodes,
// or another of its nodes has a fault, the report tells an operator where to look. Used by
// inbox/sources/silent_source.
#pragma once

#include <string>
#include <vector>

#include "core/kube/api.h"
#include "remediator/cluster/known_evidence.h"
#include "remediator/cluster/node_signs.h"
#include "remediator/inbox/sources/last_known.h"

namespace gpuward::remediator {

class JobNodes final : public LastKnown {
 public:
  // The arguments must outlive this object.
  JobNodes(kube::Api& api, const NodeSigns& nodes, const KnownEvidence& known, Clock& clock)
      : api_(api), nodes_(nodes), known_(known), clock_(clock) {}
  // Reads the pods of the node, and the pods of at most two of its jobs.
  [[nodiscard]] Result<std::string> of(const NodeSign& node) override;

 private:
  // Returns "gpu-3: GpuXidReboot (reboot)" for each node with a report.
  [[nodiscard]] std::vector<std::string> said_of(const std::vector<std::string>& nodes) const;

  kube::Api& api_;
  const NodeSigns& nodes_;
  const KnownEvidence& known_;
  Clock& clock_;
};

}  // namespace gpuward::remediator
