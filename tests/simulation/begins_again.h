// A step that is begun again whenever it is to be watched: what the reconciler's promise "begun at
// most once an intent" keeps from happening.
#pragma once

#include "remediator/actions/step_action.h"

namespace gpuward::remediator::simulation {

class BeginsAgain final : public StepAction {
 public:
  explicit BeginsAgain(StepAction& step) : step_(step) {}
  [[nodiscard]] Facts facts_before(const kube::Node& node) const override {
    return step_.facts_before(node);
  }
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& order) override {
    return step_.begin(order);
  }
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& order) override {
    return step_.begin(order);
  }

 private:
  StepAction& step_;
};

}  // namespace gpuward::remediator::simulation
