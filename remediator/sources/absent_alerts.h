// Which alerts of a source have ended without its saying so: those that have been absent from its
// complete answers for a while, without a failed answer between. Memory of this process only: a
// restart begins to count anew. One thread.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "remediator/policy/evidence.h"

namespace gpuward::remediator {

class AbsentAlerts {
 public:
  explicit AbsentAlerts(std::chrono::milliseconds gone_for) : gone_for_(gone_for) {}

  // After a complete answer: those of the `known` evidence that have ended by it, as ended orders.
  [[nodiscard]] std::vector<Order> ended(std::vector<Order> known,
                                         const std::set<std::string>& firing, const Clock& clock);
  // After an answer that failed or was not complete.
  void forget() { missing_since_.clear(); }

 private:
  std::chrono::milliseconds gone_for_;
  std::map<std::string, Clock::Steady> missing_since_;  // by node and fingerprint
};

}  // namespace gpuward::remediator
