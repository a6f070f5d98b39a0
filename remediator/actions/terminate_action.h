// The step `terminate`: has the machine behind the node ended for good, and is done when that is
// proven and the Node is gone with it. Asking twice for the end of one machine does no more than
// asking once, so that a step whose call has provably not arrived passes all guards anew and is
// begun again.
#pragma once

#include "core/kube/api.h"
#include "remediator/actions/step_action.h"
#include "remediator/cloud/provider.h"

namespace gpuward::remediator {

class TerminateAction final : public StepAction {
 public:
  TerminateAction(kube::Api& api, CloudProvider& provider, const CurrentPolicy& policy)
      : api_(api), provider_(provider), policy_(policy) {}
  [[nodiscard]] Facts facts_before(const kube::Node& node) const override;
  // Volumes that are still attached, until their deadline.
  [[nodiscard]] Result<std::optional<std::string>> obstacle(const StepOrder& order) override;
  [[nodiscard]] Result<StepProgress> begin(const StepOrder& order) override;
  [[nodiscard]] Result<StepProgress> watch(const StepOrder& order) override;

 private:
  [[nodiscard]] Result<StepProgress> wait_for_node(const StepOrder& order);

  kube::Api& api_;
  CloudProvider& provider_;
  const CurrentPolicy& policy_;  // says by which labels nodes are of one pool
};

}  // namespace gpuward::remediator
