// The Alertmanager that answers which alerts fire, or fire unsilenced. The replicas query it before
// disruptive steps and when they receive the end of an alert.
#pragma once

#include "remediator/inbox/sources/active_alerts.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

class Silences final : public ActiveAlerts {
 public:
  Silences(Stage& stage, const Fleet& fleet) : stage_(stage), fleet_(fleet) {}
  [[nodiscard]] Result<std::map<std::string, Severity>> active_on(const std::string& node) override;
  [[nodiscard]] Result<std::set<std::string>> all_firing(std::chrono::milliseconds limit) override;

 private:
  Stage& stage_;
  const Fleet& fleet_;
};

}  // namespace gpuward::remediator::simulation
