// The step `verify`: waits until the node was healthy for the soak time without a break. Healthy
// means Ready, a fresh report of this boot below severity reset, and no alert. A vanished series or
// a resolved alert alone does not prove health. After `terminate` the replacement must be healthy
// instead.
#pragma once

#include "remediator/act/actions/replacement_wait.h"
#include "remediator/act/actions/step_action.h"
#include "remediator/model/health_report.h"

namespace gpuward::remediator {

class VerifyAction final : public StepAction {
 public:
  // If `reports` is null, there are no reports, and no node is ever verified.
  VerifyAction(HealthReports* reports, const CurrentPolicy& policy, Replacements& replacements)
      : reports_(reports), policy_(policy), replacement_(reports, policy, replacements) {}
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;

 private:
  [[nodiscard]] std::optional<std::string> objection(const StepRequest& request);

  HealthReports* reports_;
  const CurrentPolicy& policy_;
  ReplacementWait replacement_;
};

}  // namespace gpuward::remediator
