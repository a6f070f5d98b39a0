// The step `reboot`: has the machine restarted once per intent, then waits until the node is Ready
// in another boot. The intent records the boot before the restart, so that the next leader
// recognises the restart after a crash. The cloud provider restarts the machine. If the provider
// cannot and the policy allows it (`machines.job.reboot`), a Job on the node restarts the machine.
//
// EC2 has no token that makes a second call the same as the first. So watch() never repeats a call
// with an unknown answer, and no new call follows while the first may still take effect. The first
// call counts as lost when three conditions hold: the step's time and kLateRestart are over, the
// node is Ready in the same boot, and a fresh report of that boot still asks for the restart.
// decide() then checks all guards again and intends the step once more. decide() also repeats a
// refused call a few times. Neither case counts against the machine (model/step_call.h).
//
// A Job restarts the machine only in the boot of its intent. The Job may start in the first part of
// the step's time, so that the rest is enough for the restart. The end of the Job does not prove a
// restart.
#pragma once

#include <optional>
#include <string>

#include "remediator/act/actions/step_action.h"
#include "remediator/act/actions/step_job.h"
#include "remediator/act/cloud/provider.h"

namespace gpuward::remediator {

// The Job of a reboot by Job. The step watches the Job until the node has come back.
class RebootJob final : public StepJob {
 public:
  using StepJob::StepJob;
  [[nodiscard]] bool is_wanted() const { return policy()->machines.restarts_by_job; }
  // Watches the Job, and records the latest time at which the restart may come.
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;

 private:
  [[nodiscard]] JobConclusion judge(const StepRequest& request,
                                    const JobOutcome& outcome) const override;
};

class RebootAction final : public StepAction {
 public:
  // The arguments must outlive the action.
  RebootAction(CloudProvider& provider, kube::Api& api, const CurrentPolicy& policy)
      : provider_(provider), api_(api), job_(api, policy) {}
  [[nodiscard]] Facts facts_before(const kube::Node& node) const override;
  [[nodiscard]] Result<std::optional<std::string>> obstacle(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;
  [[nodiscard]] Status abandon(const StepRequest& request) override;

 private:
  // Returns whether a Job does the node's next restart.
  [[nodiscard]] bool takes_job(const kube::Node& node) const;

  CloudProvider& provider_;
  kube::Api& api_;
  RebootJob job_;
};

}  // namespace gpuward::remediator
