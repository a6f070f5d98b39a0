// The step `reboot`: has the machine restarted once an intent, then waits for the node to come back
// in another boot and Ready. The intent records the boot before it, so that the next leader can
// tell after a crash. A provider restarts the machine; if none can and the policy allows it
// (`machines.job.reboot`), a Job on the node does.
//
// EC2 has no token that would make a second call the same as the first. So watch() never repeats a
// call whose answer is unknown, and no new call follows while the first may still take effect. The
// first has not arrived if the step's time and kLateRestart are over, the node is Ready in the same
// boot, and a fresh report of that boot says that it still needs the restart. decide() then checks
// all guards again and intends the step once more. It intends a refused one again a few times in
// the same way. Neither counts against the machine (model/step_call.h).
//
// A Job restarts the machine in the boot of its intent only. It may start in the first part of the
// step's time, so that the rest is enough for the restart. Its end proves no restart.
#pragma once

#include <optional>
#include <string>

#include "remediator/actions/step_action.h"
#include "remediator/actions/step_job.h"
#include "remediator/cloud/provider.h"

namespace gpuward::remediator {

// The Job alone. The step watches it while the node has not come back.
class RebootJob final : public StepJob {
 public:
  using StepJob::StepJob;
  [[nodiscard]] bool is_wanted() const { return policy()->machines.restarts_by_job; }
  // Also records until when the restart may come.
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;

 private:
  [[nodiscard]] JobConclusion judge(const StepRequest& request,
                                    const JobOutcome& outcome) const override;
};

class RebootAction final : public StepAction {
 public:
  // All must outlive the action.
  RebootAction(CloudProvider& provider, kube::Api& api, const CurrentPolicy& policy)
      : provider_(provider), api_(api), job_(api, policy) {}
  [[nodiscard]] Facts facts_before(const kube::Node& node) const override;
  [[nodiscard]] Result<std::optional<std::string>> obstacle(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;
  [[nodiscard]] Status abandon(const StepRequest& request) override;

 private:
  // Whether a Job is used for the node's next restart.
  [[nodiscard]] bool takes_job(const kube::Node& node) const;

  CloudProvider& provider_;
  kube::Api& api_;
  RebootJob job_;
};

}  // namespace gpuward::remediator
