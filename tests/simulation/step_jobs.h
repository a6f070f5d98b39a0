// The simulations in which steps are Jobs: the steps in their policies, and how a sabotage bends
// the answers about these Jobs. Has its own chance, so that the others stay as they are.
#pragma once

#include <string>

#include "core/http/client/client.h"
#include "core/runtime/json.h"
#include "remediator/act/actions/step_action.h"
#include "tests/simulation/setting.h"

namespace gpuward::remediator::simulation {

struct Stage;

void let_steps_be_jobs(Setting& setting, Chance& chance);
// Puts these steps into the plans of a policy.
void put_jobs(Policy& policy, Chance& chance);

// In some of those settings no provider restarts machines; Jobs do.
void let_restarts_be_jobs(Setting& setting, Chance& chance);
// The text without the names of Jobs, which differ in every replay.
[[nodiscard]] std::string without_job_names(std::string words);

// How a sabotage bends a new Job, and the pods of Jobs that a replica lists.
void bend_job(Stage& stage, Json& job);
void bend_job_pods(const Stage& stage, Json& list);
// Whether a request about a Job is answered as done although it is not sent.
[[nodiscard]] bool is_done_in_words(const Stage& stage, const http::ClientRequest& request);

// A step that requests no permit right before its call.
class Unasked final : public StepAction {
 public:
  Unasked(const Stage& stage, StepAction& step) : stage_(stage), step_(step) {}
  [[nodiscard]] Facts facts_before(const kube::Node& node) const override {
    return step_.facts_before(node);
  }
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& order) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& order) override {
    return step_.watch(order);
  }
  [[nodiscard]] Status abandon(const StepRequest& order) override { return step_.abandon(order); }

 private:
  const Stage& stage_;
  StepAction& step_;
};

}  // namespace gpuward::remediator::simulation
