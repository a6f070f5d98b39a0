// The Alertmanager when it is asked what fires unsilenced. Used by the replicas before disruptive
// steps.
#pragma once

#include "remediator/safety/active_alerts.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

class Silences final : public ActiveAlerts {
 public:
  Silences(Stage& stage, const Fleet& fleet) : stage_(stage), fleet_(fleet) {}
  [[nodiscard]] Result<std::set<std::string>> fingerprints() override;

 private:
  Stage& stage_;
  const Fleet& fleet_;
};

}  // namespace gpuward::remediator::simulation
