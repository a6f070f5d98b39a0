// Reports on the other nodes on which the jobs of a silent node run: if a job has lost several
// nodes, or another of its nodes has a fault, an operator knows where to look.
#pragma once

#include <string>
#include <vector>

#include "core/kube/api.h"
#include "remediator/sources/known_evidence.h"
#include "remediator/sources/last_known.h"
#include "remediator/sources/node_signs.h"

namespace gpuward::remediator {

class JobNodes final : public LastKnown {
 public:
  // All must outlive it.
  JobNodes(kube::Api& api, const NodeSigns& nodes, const KnownEvidence& known, Clock& clock)
      : api_(api), nodes_(nodes), known_(known), clock_(clock) {}
  // Reads the pods of the node, and those of at most two of its jobs.
  [[nodiscard]] Result<std::string> of(const NodeSign& node) override;

 private:
  // "gpu-3: GpuXidReboot (reboot)", for each node with a report.
  [[nodiscard]] std::vector<std::string> said_of(const std::vector<std::string>& nodes) const;

  kube::Api& api_;
  const NodeSigns& nodes_;
  const KnownEvidence& known_;
  Clock& clock_;
};

}  // namespace gpuward::remediator
