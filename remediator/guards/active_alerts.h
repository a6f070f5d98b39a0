// Which alerts fire right now and are neither silenced nor inhibited, as their source says itself.
// Asked before every disruptive step; implemented by sources/alertmanager_poll.
#pragma once

#include <set>
#include <string>

#include "core/model/result.h"

namespace gpuward::remediator {

// Any thread.
class ActiveAlerts {
 public:
  virtual ~ActiveAlerts() = default;
  // A few seconds old at most. An error where the source does not answer: then nobody knows whether
  // an operator has silenced them.
  [[nodiscard]] virtual Result<std::set<std::string>> fingerprints() = 0;
  // Read afresh: all that fire, the silenced and inhibited ones too.
  [[nodiscard]] virtual Result<std::set<std::string>> all_firing() = 0;
};

}  // namespace gpuward::remediator
