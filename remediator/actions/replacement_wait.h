// The wait for the node that replaces one whose machine was ended. It must be created after the
// lost node's drain began (without a drain, after its end was intended), in the same pool, of the
// same type with the same GPUs, on another instance, schedulable, Ready, without a Remediation of
// its own, not counted for another machine, and have had fresh reports of severity none for the
// whole soak time. Part of the step `verify`.
#pragma once

#include <optional>
#include <string>

#include "remediator/actions/machine_kind.h"
#include "remediator/actions/replacements.h"
#include "remediator/actions/step_action.h"
#include "remediator/model/health_report.h"

namespace gpuward::remediator {

// Any thread; one Remediation at a time.
class ReplacementWait {
 public:
  // If `reports` is null, there are no reports, and no node ever counts.
  ReplacementWait(HealthReports* reports, const CurrentPolicy& policy, Replacements& replacements)
      : reports_(reports), policy_(policy), replacements_(replacements) {}
  // The node that counts is in the facts; if it is no longer healthy, another node may take its
  // place.
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request);

 private:
  struct Lost;  // the known facts about the ended machine
  [[nodiscard]] std::optional<std::string> objection(const StepRequest& request, const Lost& lost,
                                                     const Newcomer& newcomer);
  [[nodiscard]] std::optional<std::string> objection_to_health(const StepRequest& request,
                                                               const kube::Node& node);
  [[nodiscard]] StepProgress count(const StepRequest& request, const kube::Node& node);

  HealthReports* reports_;
  const CurrentPolicy& policy_;
  Replacements& replacements_;
};

}  // namespace gpuward::remediator
