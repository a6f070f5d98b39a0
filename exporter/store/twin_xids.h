// Matches the two reports of one Xid: the kernel log and the driver's event set both report most
// Xids, within moments of each other, and each counts once. Used by the LatchedState.
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
