// The step `terminate`: has the machine behind the node ended, and is done when its end is proven
// and the Node is gone with it.
//
// An accepted call stays accepted. If the provider later says that the machine runs, that answer
// may be from before the call (EC2 is eventually consistent). The step waits kAnswersSettle; if the
// answer is still the same, an operator is notified. If it is unknown whether the call has arrived,
// the same answer for that long proves that it has not: all guards are then checked again and the
// step is repeated. That is safe, because a second request to end the same machine does no more
// than the first. If an accepted end is not proven in time, the step keeps checking, so that the
// Remediation still ends as Replaced when the proof comes.
#pragma once

#include <chrono>

#include "core/kube/api.h"
#include "remediator/actions/step_action.h"
#include "remediator/cloud/provider.h"

namespace gpuward::remediator {

// How long a provider is not believed that says that a machine runs after a request to end it.
inline constexpr std::chrono::minutes kAnswersSettle{10};

class TerminateAction final : public StepAction {
 public:
  TerminateAction(kube::Api& api, CloudProvider& provider, const CurrentPolicy& policy)
      : api_(api), provider_(provider), policy_(policy) {}
  [[nodiscard]] Facts facts_before(const kube::Node& node) const override;
  // Returns volumes that are still attached, until their deadline.
  [[nodiscard]] Result<std::optional<std::string>> obstacle(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;

 private:
  [[nodiscard]] Result<StepProgress> look_at_machine(const StepRequest& request);
  [[nodiscard]] static StepProgress contradicted(const StepRequest& request);
  [[nodiscard]] Result<StepProgress> wait_for_node(const StepRequest& request);

  kube::Api& api_;
  CloudProvider& provider_;
  const CurrentPolicy& policy_;  // says which labels make nodes one pool
};

}  // namespace gpuward::remediator
