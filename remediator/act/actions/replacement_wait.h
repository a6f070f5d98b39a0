// Waits for the node that replaces a node with an ended machine. Part of the step `verify`. The new
// node must be created after the lost node's drain began, or after the end was intended if there
// was no drain. It needs the same pool, type and GPUs on another instance. It must be schedulable
// and Ready, have no own Remediation, and not be counted for another machine. Its fresh reports
// must have severity none for the whole soak time.
#pragma once

#include <optional>
#include <string>

#include "remediator/act/actions/machine_kind.h"
#include "remediator/act/actions/step_action.h"
#include "remediator/cluster/replacements.h"
#include "remediator/model/health_report.h"

namespace gpuward::remediator {

// Any thread may call it, but for one Remediation at a time.
class ReplacementWait {
 public:
  // The arguments must outlive this object. If `reports` is null, there are no reports, and no node
  // ever counts.
  ReplacementWait(HealthReports* reports, const CurrentPolicy& policy, Replacements& replacements)
      : reports_(reports), policy_(policy), replacements_(replacements) {}
  // Checks the new nodes and returns the progress. The facts name the node that counts. If that
  // node is no longer healthy, another node may replace it.
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request);

 private:
  struct Lost;  // The known facts about the ended machine.
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
