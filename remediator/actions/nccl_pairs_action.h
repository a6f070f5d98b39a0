// The step `nccl-pairs`: if several nodes have failed together, NCCL tests between two of them at a
// time find the culprit, and only the culprit stays out of service (docs/steps.md). Each node is at
// this step by its own Remediation. The one with the smallest name leads: it alone creates Jobs and
// records their results; the others read its record and end by it. If the leader leaves, the next
// one starts over.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "remediator/actions/pair_jobs.h"
#include "remediator/actions/pair_round.h"
#include "remediator/actions/step_action.h"

namespace gpuward::remediator {

class NcclPairsAction final : public StepAction {
 public:
  // All must outlive it.
  NcclPairsAction(kube::Api& api, const CurrentPolicy& policy, const SeenRemediations& seen)
      : policy_(policy), seen_(seen), jobs_(api, policy) {}

  [[nodiscard]] Facts facts_before(const kube::Node& node) const override;
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override {
    return watch(request);
  }
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;
  // Also ends the Jobs on this node that another Remediation leads: the node may return to service
  // now.
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
