// The step `terminate`: has the machine behind the node ended for good, and is done when that is
// proven and the Node is gone with it.
//
// What is accepted stays accepted. Where the provider says afterwards that the machine runs, the
// answer may be of before (EC2 is consistent only after a while): it is waited for kAnswersSettle,
// and if nothing else is said for so long, an operator is told. Where it is not known whether the
// call has arrived, the same answer for so long proves that it has not: then the step passes all
// guards anew and is begun again. That is safe, because asking twice for the end of one machine
// does no more than asking once. An end that is accepted and not proven in time is checked on, so
// that the Remediation still ends as Replaced when the proof comes.
#pragma once

#include <chrono>

#include "core/kube/api.h"
#include "remediator/actions/step_action.h"
#include "remediator/cloud/provider.h"

namespace gpuward::remediator {

// How long a provider that says of a machine whose end was asked for that it runs is not believed.
inline constexpr std::chrono::minutes kAnswersSettle{10};

class TerminateAction final : public StepAction {
 public:
  TerminateAction(kube::Api& api, CloudProvider& provider, const CurrentPolicy& policy)
      : api_(api), provider_(provider), policy_(policy) {}
  [[nodiscard]] Facts facts_before(const kube::Node& node) const override;
  // Volumes that are still attached, until their deadline.
  [[nodiscard]] Result<std::optional<std::string>> obstacle(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;

 private:
  [[nodiscard]] Result<StepProgress> look_at_machine(const StepRequest& request);
  [[nodiscard]] static StepProgress contradicted(const StepRequest& request);
  [[nodiscard]] Result<StepProgress> wait_for_node(const StepRequest& request);

  kube::Api& api_;
  CloudProvider& provider_;
  const CurrentPolicy& policy_;  // says by which labels nodes are of one pool
};

}  // namespace gpuward::remediator
