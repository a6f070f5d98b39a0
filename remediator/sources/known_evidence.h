// Finds the evidence of the open Remediations, for sources that must report the end of each alert
// themselves. It is read from the cluster, so that a restart loses none. Implemented by
// records/cluster_view.
#pragma once

#include <string_view>
#include <vector>

#include "remediator/model/evidence.h"

namespace gpuward::remediator {

// Thread-safe.
class KnownEvidence {
 public:
  virtual ~KnownEvidence() = default;
  // Returns the evidence that still fires and whose fingerprint begins with `origin`, as it
  // arrived.
  [[nodiscard]] virtual std::vector<AlertSignal> firing_from(std::string_view origin) const = 0;
};

}  // namespace gpuward::remediator
