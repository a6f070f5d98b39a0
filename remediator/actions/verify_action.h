// The step `verify`: the node looks well for the soak time without a break: Ready, a fresh report
// of this boot below severity reset, no alert. A vanished series and a resolved alert alone are no
// health.
#pragma once

#include "remediator/actions/step_action.h"
#include "remediator/safety/health_report.h"

namespace gpuward::remediator {

class VerifyAction final : public StepAction {
 public:
  // Null: no reports are to be had, and no node is ever verified.
  VerifyAction(HealthReports* reports, const CurrentPolicy& policy)
      : reports_(reports), policy_(policy) {}
  [[nodiscard]] Result<StepProgress> begin(const StepOrder& order) override;
  [[nodiscard]] Result<StepProgress> watch(const StepOrder& order) override;

 private:
  [[nodiscard]] std::optional<std::string> objection(const StepOrder& order);

  HealthReports* reports_;
  const CurrentPolicy& policy_;
};

}  // namespace gpuward::remediator
