// Finds alerts that ended without a report of their end, because they were absent from the source's
// complete answers for a while. A failed answer, or a long time without an answer, restarts that
// time, because a replica that did not lead or was suspended does not know which alerts fired. The
// memory is lost with the process. One thread. Used by the polled sources of alerts.
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
  // `gone_for`: how long an alert must be absent. `every`: how often the source is read.
  AbsentAlerts(std::chrono::milliseconds gone_for, std::chrono::milliseconds every)
      : gone_for_(gone_for), longest_silence_(std::max(gone_for / 2, 2 * every)) {}

  // Returns the `known` alerts that have ended, as ended alert signals. Called after a complete
  // answer.
  [[nodiscard]] std::vector<AlertSignal> ended(std::vector<AlertSignal> known,
                                               const std::set<std::string>& firing,
                                               const Clock& clock);
  // Restarts the time. Called after an answer that failed or was incomplete.
  void forget() { missing_since_.clear(); }

 private:
  // Node, fingerprint and start. A later start is another alert.
  using Key = std::tuple<std::string, std::string, WallTime>;

  std::chrono::milliseconds gone_for_, longest_silence_;
  std::optional<Clock::Steady> answered_;  // Time of the last complete answer.
  std::map<Key, Clock::Steady> missing_since_;
};

}  // namespace gpuward::remediator
