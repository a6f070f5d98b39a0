// The nodes as the informers last saw them: no list of nodes of its own. Implemented by
// cluster/cluster_view, used by inbox/sources/silent_source and by the proofs before a disruptive
// step.
#pragma once

#include <vector>

#include "core/runtime/clock.h"
#include "remediator/cluster/silent_nodes.h"

namespace gpuward::remediator {

// Thread-safe.
class NodeSigns {
 public:
  virtual ~NodeSigns() = default;
  // Returns the signs of all nodes. `now` decides which records are recent.
  [[nodiscard]] virtual std::vector<NodeSign> signs(WallTime now) const = 0;
  // Returns whether the informers have just heard from the API server. If not, the data is old, and
  // the API server itself may be silent.
  [[nodiscard]] virtual bool is_current(Clock::Steady now) const = 0;
};

}  // namespace gpuward::remediator
