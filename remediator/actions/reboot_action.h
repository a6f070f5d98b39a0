// The step `reboot`: asks the provider once an intent, then waits for the node to come back in
// another boot and Ready. The boot before it is in the intent, so that whoever goes on after a
// crash can tell.
//
// EC2 has no token that would make a second call the same as the first, so that a call of which no
// answer is known is not repeated by watch(), and not while the first may still take effect. Once
// the step's time and kLateRestart are over, the node is Ready in the same boot, and a fresh report
// of that boot says that it still needs the restart, the first has not arrived: then decide()
// passes all guards anew and intends the step once more. What was refused is asked for again a few
// times in the same way. Neither counts against the machine (policy/step_call.h).
#pragma once

#include "remediator/actions/step_action.h"
#include "remediator/cloud/provider.h"

namespace gpuward::remediator {

class RebootAction final : public StepAction {
 public:
  explicit RebootAction(CloudProvider& provider) : provider_(provider) {}
  [[nodiscard]] Facts facts_before(const kube::Node& node) const override;
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;

 private:
  CloudProvider& provider_;
};

}  // namespace gpuward::remediator
