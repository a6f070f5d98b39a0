// Which alerts fire right now and are neither silenced nor inhibited, as their source says itself.
// Asked before every disruptive step; implemented by sources/alertmanager_poll.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "core/model/result.h"
#include "core/model/severity.h"

namespace gpuward::remediator {

// Any thread.
class ActiveAlerts {
 public:
  virtual ~ActiveAlerts() = default;
  // The fingerprints of the node's alerts, each with the severity that its own labels ask for, a
  // few seconds old at most. A sender of notifications chooses all of these three, so only those
  // that the source itself says count. An error if the source does not answer: whether an operator
  // has silenced them is then unknown.
  [[nodiscard]] virtual Result<std::map<std::string, Severity>> active_on(
      const std::string& node) = 0;
  // The fingerprints of all that fire, the silenced and inhibited ones too, read afresh. An error
  // if the source has not answered within `limit`.
  [[nodiscard]] virtual Result<std::set<std::string>> all_firing(
      std::chrono::milliseconds limit) = 0;
};

}  // namespace gpuward::remediator
