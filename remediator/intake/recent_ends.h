// Ends of alerts that came a moment ago, whose firing may come later still: out of order, or again
// by a retry. Where a Remediation is open and knows the alert, that remembers it longer. Memory of
// this process only, bounded. Any thread.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/runtime/clock.h"
#include "remediator/model/evidence.h"

namespace gpuward::remediator {

class RecentEnds {
 public:
  static constexpr std::size_t kMost = 10'000;

  void note(const AlertSignal& ended, Clock::Steady now);
  // Whether `firing` is of an episode whose end came within kLateRepeats: the same alert with the
  // same start. Who would forge an end to keep an alert out must know its start to the nanosecond.
  [[nodiscard]] bool has_ended(const AlertSignal& firing, Clock::Steady now);

 private:
  using Episode = std::pair<std::string, WallTime>;  // node and fingerprint, start

  void forget_old(Clock::Steady now);

  std::mutex mutex_;
  std::map<Episode, Clock::Steady> ends_;  // when they came
};

}  // namespace gpuward::remediator
