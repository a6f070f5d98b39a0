// The step `reboot`: asks the provider once, then waits for the node to come back in another boot
// and Ready. The boot before it is in the intent, so that whoever goes on after a crash can tell.
#pragma once

#include "remediator/actions/step_action.h"
#include "remediator/cloud/provider.h"

namespace gpuward::remediator {

class RebootAction final : public StepAction {
 public:
  explicit RebootAction(CloudProvider& provider) : provider_(provider) {}
  [[nodiscard]] Facts facts_before(const kube::Node& node) const override;
  [[nodiscard]] Result<StepProgress> begin(const StepOrder& order) override;
  [[nodiscard]] Result<StepProgress> watch(const StepOrder& order) override;

 private:
  CloudProvider& provider_;
};

}  // namespace gpuward::remediator
