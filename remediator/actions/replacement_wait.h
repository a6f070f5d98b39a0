// The wait for the node that comes in the place of one whose machine was ended: made since that was
// drained, or else since its end was intended, in the same pool, of the same type with the same
// GPUs, on another instance, free to take work, Ready, without a Remediation of its own, not
// counted for another machine, and with a fresh report of severity none for the soak time without a
// break. Part of the step `verify`.
#pragma once

#include <optional>
#include <string>

#include "remediator/actions/machine_kind.h"
#include "remediator/actions/replacements.h"
#include "remediator/actions/step_action.h"
#include "remediator/model/health_report.h"

namespace gpuward::remediator {

// Any thread; of one Remediation at a time.
class ReplacementWait {
 public:
  // Null `reports`: none are to be had, and no node ever counts.
  ReplacementWait(HealthReports* reports, const CurrentPolicy& policy, Replacements& replacements)
      : reports_(reports), policy_(policy), replacements_(replacements) {}
  // The node that counts is in the facts; one that stops looking well gives its place to another.
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request);

 private:
  struct Lost;  // what is known of the machine that was ended
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
