// Returns the last known facts about a silent node from one source, as a part of the text in its
// Remediation. Implemented by inbox/sources/last_kernel_lines and inbox/sources/job_nodes, used by
// inbox/sources/silent_source.
#pragma once

#include <string>

#include "core/model/result.h"
#include "remediator/cluster/silent_nodes.h"

namespace gpuward::remediator {

// Called by one thread.
class LastKnown {
 public:
  virtual ~LastKnown() = default;
  // Returns in bounded time a clause that names its source or its subject ("Loki: ...", "JobSet
  // ..."); empty if there are no facts.
  [[nodiscard]] virtual Result<std::string> of(const NodeSign& node) = 0;
};

}  // namespace gpuward::remediator
