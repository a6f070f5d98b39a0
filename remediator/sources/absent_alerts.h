// Finds the alerts of a source that have ended without a report of their end: they have been absent
// from its complete answers for a while. A failed answer, or a long time without an answer,
// restarts that time: a replica that did not lead, or was suspended, does not know what fired
// meanwhile. Memory of this process only: after a restart the time starts again. One thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/runtime/clock.h"
#include "remediator/model/evidence.h"

namespace gpuward::remediator {

class AbsentAlerts {
 public:
  // `every`: how often the source is read.
  AbsentAlerts(std::chrono::milliseconds gone_for, std::chrono::milliseconds every)
      : gone_for_(gone_for), longest_silence_(std::max(gone_for / 2, 2 * every)) {}

  // Called after a complete answer. Returns those of the `known` evidence that have ended by it, as
  // ended alert signals.
  [[nodiscard]] std::vector<AlertSignal> ended(std::vector<AlertSignal> known,
                                               const std::set<std::string>& firing,
                                               const Clock& clock);
  // Called after an answer that failed or was not complete.
  void forget() { missing_since_.clear(); }

 private:
  // Node, fingerprint and start: a later start is another alert.
  using Key = std::tuple<std::string, std::string, WallTime>;

  std::chrono::milliseconds gone_for_, longest_silence_;
  std::optional<Clock::Steady> answered_;  // the last complete answer
  std::map<Key, Clock::Steady> missing_since_;
};

}  // namespace gpuward::remediator
