// The nodes as the informers have last seen them: no list of nodes of its own. Implemented by
// records/cluster_view, used by sources/silent_source and by the proofs before a disruptive step.
#pragma once

#include <vector>

#include "core/runtime/clock.h"
#include "remediator/guards/silent_nodes.h"

namespace gpuward::remediator {

// Any thread.
class NodeSigns {
 public:
  virtual ~NodeSigns() = default;
  // `now`: what counts as recent.
  [[nodiscard]] virtual std::vector<NodeSign> signs(WallTime now) const = 0;
  // Whether the API server was heard from a moment ago: else what is seen is old, and the silence
  // may be its own.
  [[nodiscard]] virtual bool is_current(Clock::Steady now) const = 0;
};

}  // namespace gpuward::remediator
