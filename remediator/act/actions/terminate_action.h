// The step `terminate`: asks the provider to end the machine of the node. The step is done when the
// end is proven and the Node is gone. Used by act/actions/all.cpp.
//
// An accepted call stays accepted. If the provider later reports that the machine runs, the report
// may be older than the call, because EC2 is eventually consistent. The step then waits
// kAnswersSettle. If the provider still reports a running machine, gpuward notifies an operator. If
// it is unknown whether the call arrived, the same report for that long proves that it did not.
// decide() then checks all guards again and repeats the step. A second request to end the same
// machine does nothing more than the first. If the end is not proven in time, the step keeps
// checking, so that the Remediation still ends as Replaced when the proof comes.
#pragma once

#include <chrono>

#include "core/kube/api.h"
#include "remediator/act/actions/step_action.h"
#include "remediator/act/cloud/provider.h"

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
