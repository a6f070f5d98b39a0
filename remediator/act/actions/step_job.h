// The common part of the steps that run a Job on the node. Creates the Job once, finds it by its
// name after a crash, watches it to its end, and deletes it when the step's time is over. Each step
// decides what the end of its Job means for the node.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/kube/api.h"
#include "remediator/act/actions/job_outcome.h"
#include "remediator/act/actions/step_action.h"
#include "remediator/model/step_call.h"

namespace gpuward::remediator {

struct JobConclusion {
  // kFailed or kDone. kRunning: the step cannot tell yet and asks again until its time is over.
  StepResult result = StepResult::kFailed;
  std::string message;
  // For a failure: true if the failure says nothing about the node, or if the policy wants an
  // operator to look. Otherwise the steps of the next worse severity follow.
  bool needs_operator = false;
  // Whether a Job that has run did its work on the node. Without work, its failure is not a
  // treatment.
  bool has_acted = true;
  // State of the call, also while the step runs. nullopt: `has_acted` decides.
  std::optional<Call> call = {};
};

class StepJob : public StepAction {
 public:
  // The arguments must outlive the action.
  StepJob(kube::Api& api, const CurrentPolicy& policy) : api_(api), policy_(policy) {}
  [[nodiscard]] Facts facts_before(const kube::Node& node) const override;
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;
  [[nodiscard]] Status abandon(const StepRequest& request) override;

 protected:
  // Returns the meaning of an outcome. Called when the Job has ended or was deleted. Pure.
  [[nodiscard]] virtual JobConclusion judge(const StepRequest& request,
                                            const JobOutcome& outcome) const = 0;
  // Returns why no Job may be created on this node, as a failure without a Job; nullopt if a Job
  // may be created. Pure.
  [[nodiscard]] virtual std::optional<JobConclusion> refusal(const StepRequest&,
                                                             const JobsPolicy&) const {
    return std::nullopt;
  }
  [[nodiscard]] kube::Api& api() { return api_; }
  [[nodiscard]] std::shared_ptr<const Policy> policy() const { return policy_.get(); }
  // Returns the failed progress if no Job may be created on this node, else nullopt.
  [[nodiscard]] std::optional<StepProgress> refused(const StepRequest& request) const;

 private:
  [[nodiscard]] Result<StepProgress> adopt(const StepRequest& request);
  [[nodiscard]] Status give_up(const StepRequest& request);
  // Reads the Node and returns its current boot ID. Returns the last known boot ID if the Node is
  // gone or another Node has its name.
  [[nodiscard]] Result<std::string> boot_now(const StepRequest& request);

  kube::Api& api_;
  const CurrentPolicy& policy_;
};

}  // namespace gpuward::remediator
