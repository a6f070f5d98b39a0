// The simulations in which steps are Jobs: what their policies have, and how a sabotage bends what
// is said of these Jobs. Drawn with chance of their own, so that the others stay as they are.
#pragma once

#include <string>

#include "core/http/client/client.h"
#include "core/runtime/json.h"
#include "remediator/actions/step_action.h"
#include "tests/simulation/setting.h"

namespace gpuward::remediator::simulation {

struct Stage;

void let_steps_be_jobs(Setting& setting, Chance& chance);
// Puts them into the plans of a policy.
void put_jobs(Policy& policy, Chance& chance);

// In some of those settings no provider restarts machines.
void let_restarts_be_jobs(Setting& setting, Chance& chance);
// Words without the names of Jobs, which are another at every replay.
[[nodiscard]] std::string without_job_names(std::string words);

// How a sabotage bends the Job that is to be made, and the pods of Jobs that a replica lists.
void bend_job(Stage& stage, Json& job);
void bend_job_pods(const Stage& stage, Json& list);
// Whether a request about a Job is answered as done, and is not.
[[nodiscard]] bool is_done_in_words(const Stage& stage, const http::ClientRequest& request);

// A step that asks nobody right before its call.
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
