// Kernel log and event set of the driver both tell of most Xids, within moments of each other:
// which of the two has told of one that the other has not yet. Used by the LatchedState.
#pragma once

#include <deque>

#include "exporter/store/state.h"

namespace gpuward::exporter {

class TwinXids {
 public:
  // Whether the other source has told of this one already; where not, its twin is awaited.
  [[nodiscard]] bool is_told_twice(const CounterKey& key, WallTime seen, bool is_driver_event);

 private:
  struct Unmatched {
    CounterKey key;
    WallTime seen;
    bool is_driver_event = false;
  };
  std::deque<Unmatched> unmatched_;  // the oldest give way
};

}  // namespace gpuward::exporter
