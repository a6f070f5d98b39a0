// What the open Remediations rest on, for sources that have to say that something of theirs has
// ended: in the cluster, so that a restart forgets none of it. Implemented by
// records/cluster_view.
#pragma once

#include <string_view>
#include <vector>

#include "remediator/model/evidence.h"

namespace gpuward::remediator {

// Any thread.
class KnownEvidence {
 public:
  virtual ~KnownEvidence() = default;
  // The evidence that still fires and whose fingerprint begins with `origin`, as it came.
  [[nodiscard]] virtual std::vector<AlertSignal> firing_from(std::string_view origin) const = 0;
};

}  // namespace gpuward::remediator
