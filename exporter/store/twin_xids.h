// Matches the two reports of one Xid: the kernel log and the driver's event set both report most
// Xids, within moments of each other, and each counts once. Used by the LatchedState.
#pragma once

#include <deque>
#include <optional>

#include "exporter/store/state.h"

namespace gpuward::exporter {

class TwinXids {
 public:
  // Returns the severity by the other source; absent if it has not reported this Xid yet: its twin
  // is awaited.
  [[nodiscard]] std::optional<Severity> twin_of(const CounterKey& key, WallTime seen,
                                                bool is_driver_event, Severity severity);

 private:
  struct Unmatched {
    CounterKey key;
    WallTime seen;
    bool is_driver_event = false;
    Severity severity = Severity::kNone;
  };
  std::deque<Unmatched> unmatched_;  // the oldest are dropped
};

}  // namespace gpuward::exporter
