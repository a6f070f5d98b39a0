// The common part of the steps that are a Job on the node: creates the Job once, finds it again by
// its name after a crash, watches it to its end, and deletes it when the step's time is over. Each
// step itself decides what the Job's end means for the node.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/kube/api.h"
#include "remediator/actions/job_outcome.h"
#include "remediator/actions/step_action.h"
#include "remediator/model/step_call.h"

namespace gpuward::remediator {

struct JobConclusion {
  // Or kDone. kRunning: it cannot tell yet; the step asks again until its time is over.
  StepResult result = StepResult::kFailed;
  std::string message;
  // For a failure: it says nothing about the node, or the policy wants an operator to look.
  // Otherwise the next worse severity follows.
  bool needs_operator = false;
  // Whether a Job that has run did its work on the node: otherwise its failure is not a treatment.
  bool has_acted = true;
  // The state of the call, also while the step runs. nullopt: it follows from `has_acted`.
  std::optional<Call> call = {};
};

class StepJob : public StepAction {
 public:
  // Both must outlive the action.
  StepJob(kube::Api& api, const CurrentPolicy& policy) : api_(api), policy_(policy) {}
  [[nodiscard]] Facts facts_before(const kube::Node& node) const override;
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;
  [[nodiscard]] Status abandon(const StepRequest& request) override;

 protected:
  // Called when the Job has ended or was deleted. Pure.
  [[nodiscard]] virtual JobConclusion judge(const StepRequest& request,
                                            const JobOutcome& outcome) const = 0;
  // Returns why no Job may be created on this node, as a failure without a Job. Pure.
  [[nodiscard]] virtual std::optional<JobConclusion> refusal(const StepRequest&,
                                                             const JobsPolicy&) const {
    return std::nullopt;
  }
  [[nodiscard]] kube::Api& api() { return api_; }
  [[nodiscard]] std::shared_ptr<const Policy> policy() const { return policy_.get(); }
  // nullopt: a Job may be created on this node.
  [[nodiscard]] std::optional<StepProgress> refused(const StepRequest& request) const;

 private:
  [[nodiscard]] Result<StepProgress> adopt(const StepRequest& request);
  [[nodiscard]] Status give_up(const StepRequest& request);
  // The boot that the node is in, by a new read; the one it was last seen in if it is gone.
  [[nodiscard]] Result<std::string> boot_now(const StepRequest& request);

  kube::Api& api_;
  const CurrentPolicy& policy_;
};

}  // namespace gpuward::remediator
