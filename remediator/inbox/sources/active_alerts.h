// The alerts that fire right now and are neither silenced nor inhibited, as their source itself
// reports. Read before every disruptive step; implemented by inbox/sources/alertmanager_poll.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "core/model/result.h"
#include "core/model/severity.h"

namespace gpuward::remediator {

// Thread-safe.
class ActiveAlerts {
 public:
  virtual ~ActiveAlerts() = default;
  // Returns the fingerprints of the node's alerts, each with the severity that its own labels
  // request, a few seconds old at most. The sender of a notification controls the node, the
  // fingerprint and the severity in it, so only the answer of the source counts. An error if the
  // source does not answer: it is then unknown whether an operator has silenced the alerts.
  [[nodiscard]] virtual Result<std::map<std::string, Severity>> active_on(
      const std::string& node) = 0;
  // Returns the fingerprints of all firing alerts, silenced and inhibited ones included, from a new
  // read. An error if the source has not answered within `limit`.
  [[nodiscard]] virtual Result<std::set<std::string>> all_firing(
      std::chrono::milliseconds limit) = 0;
};

}  // namespace gpuward::remediator
