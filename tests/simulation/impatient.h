// A step that is watched as if an hour had passed: what is said of it is believed at once.
#pragma once

#include "remediator/actions/step_action.h"

namespace gpuward::remediator::simulation {

class Impatient final : public StepAction {
 public:
  explicit Impatient(StepAction& step) : step_(step) {}
  [[nodiscard]] Facts facts_before(const kube::Node& node) const override {
    return step_.facts_before(node);
  }
  [[nodiscard]] Result<std::optional<std::string>> obstacle(const StepRequest& order) override {
    return step_.obstacle(order);
  }
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& order) override {
    return step_.begin(order);
  }
  // One look right after the other, an hour later.
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& order) override {
    auto progress = step_.watch(order);
    if (!progress || progress->result != StepResult::kRunning) return progress;
    StepRequest later = order;
    later.facts = progress->facts;
    later.now += std::chrono::hours(1);
    return step_.watch(later);
  }

 private:
  StepAction& step_;
};

}  // namespace gpuward::remediator::simulation
