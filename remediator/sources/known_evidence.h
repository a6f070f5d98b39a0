// What the open Remediations rest on, for sources that have to say that something of theirs has
// ended: in the cluster, so that a restart forgets none of it. Implemented by
// workflow/cluster_view.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "remediator/policy/evidence.h"

namespace gpuward::remediator {

struct KnownFinding {
  Order order;          // as it came, still firing
  std::string boot_id;  // of the node when the Remediation was opened
};

// Any thread.
class KnownEvidence {
 public:
  virtual ~KnownEvidence() = default;
  // The evidence that still fires and whose fingerprint begins with `origin`.
  [[nodiscard]] virtual std::vector<KnownFinding> firing_from(std::string_view origin) const = 0;
};

}  // namespace gpuward::remediator
