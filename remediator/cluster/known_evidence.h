// Finds the evidence of the open Remediations, for sources that must report the end of each alert
// themselves. The evidence is in the cluster, so that a restart loses none. Implemented by
// cluster/cluster_view.
#pragma once

#include <string_view>
#include <vector>

#include "remediator/model/evidence.h"

namespace gpuward::remediator {

// Thread-safe.
class KnownEvidence {
 public:
  virtual ~KnownEvidence() = default;
  // Returns the firing evidence with a fingerprint that begins with `origin`, in the form in which
  // it arrived.
  [[nodiscard]] virtual std::vector<AlertSignal> firing_from(std::string_view origin) const = 0;
};

}  // namespace gpuward::remediator
