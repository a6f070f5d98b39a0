// Which alerts of a source have ended without its saying so: those that have been absent from its
// complete answers for a while, without a failed answer or a long time without any between: who did
// not lead, or stood still, does not know what fired meanwhile. Memory of this process only: a
// restart begins to count anew. One thread.
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
  // `every`: how often its source is asked.
  AbsentAlerts(std::chrono::milliseconds gone_for, std::chrono::milliseconds every)
      : gone_for_(gone_for), longest_silence_(std::max(gone_for / 2, 2 * every)) {}

  // After a complete answer: those of the `known` evidence that have ended by it, as ended alert
  // signals.
  [[nodiscard]] std::vector<AlertSignal> ended(std::vector<AlertSignal> known,
                                               const std::set<std::string>& firing,
                                               const Clock& clock);
  // After an answer that failed or was not complete.
  void forget() { missing_since_.clear(); }

 private:
  // Node, fingerprint and start: an alert that has begun anew is another one.
  using Key = std::tuple<std::string, std::string, WallTime>;

  std::chrono::milliseconds gone_for_, longest_silence_;
  std::optional<Clock::Steady> answered_;  // the last complete answer
  std::map<Key, Clock::Steady> missing_since_;
};

}  // namespace gpuward::remediator
