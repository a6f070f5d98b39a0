// What somebody knows last of a silent node, for people: one part of what its Remediation tells.
// Implemented by sources/last_kernel_lines and sources/job_nodes, used by sources/silent_source.
#pragma once

#include <string>

#include "core/model/result.h"
#include "remediator/guards/silent_nodes.h"

namespace gpuward::remediator {

// Called by one thread.
class LastKnown {
 public:
  virtual ~LastKnown() = default;
  // In bounded time. A clause that names its source or its subject ("Loki: ...", "JobSet ...");
  // empty: nothing is known.
  [[nodiscard]] virtual Result<std::string> of(const NodeSign& node) = 0;
};

}  // namespace gpuward::remediator
