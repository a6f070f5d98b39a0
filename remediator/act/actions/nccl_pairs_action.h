// The step `nccl-pairs`: if several nodes failed together, NCCL tests between two nodes at a time
// find the culprit (docs/steps.md). Only the culprit stays out of service. Each node is at this
// step by its own Remediation. The Remediation with the smallest name leads: it creates all Jobs
// and records their results. The other Remediations read this record and end the step by it. If the
// leader leaves, the next Remediation starts the tests from the beginning.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "remediator/act/actions/pair_jobs.h"
#include "remediator/act/actions/pair_round.h"
#include "remediator/act/actions/step_action.h"

namespace gpuward::remediator {

class NcclPairsAction final : public StepAction {
 public:
  // The arguments must outlive the action.
  NcclPairsAction(kube::Api& api, const CurrentPolicy& policy, const SeenRemediations& seen)
      : policy_(policy), seen_(seen), jobs_(api, policy) {}

  [[nodiscard]] Facts facts_before(const kube::Node& node) const override;
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override {
    return watch(request);
  }
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;
  // Ends the Jobs of this step, including Jobs on this node that another Remediation leads, because
  // the node may return to service now.
  [[nodiscard]] Status abandon(const StepRequest& request) override;

 private:
  [[nodiscard]] Result<StepProgress> gather(const StepRequest& request, PairRound& round);
  [[nodiscard]] Result<StepProgress> lead(const StepRequest& request, PairRound& round);
  [[nodiscard]] Result<StepProgress> step_down(const StepRequest& request);
  [[nodiscard]] Status advance(const StepRequest& request, PairRound& round);
  [[nodiscard]] Status go_on(const StepRequest& request, const PairRound& round, PairTest& test);
  [[nodiscard]] Status make_both(const StepRequest& request, const PairRound& round,
                                 PairTest& test);
  void cut_off(const StepRequest& request, PairTest& test, const std::string& why);
  [[nodiscard]] static std::optional<StepProgress> finding_of_others(const StepRequest& request,
                                                                     const PairRound& round);
  [[nodiscard]] static StepProgress alone(const StepRequest& request, const PairRound& round);
  [[nodiscard]] StepProgress begin_next(const StepRequest& request, PairRound& round);

  const CurrentPolicy& policy_;
  const SeenRemediations& seen_;
  PairJobs jobs_;
};

}  // namespace gpuward::remediator
