// Steps that are watched in ways the product never uses. Each shows what one guard prevents.
#pragma once

#include "remediator/act/actions/step_action.h"
#include "remediator/act/actions/step_progress.h"

namespace gpuward::remediator::simulation {

// Behaves as `step`; descendants change parts of it.
class BentStep : public StepAction {
 public:
  explicit BentStep(StepAction& step) : step_(step) {}
  [[nodiscard]] Facts facts_before(const kube::Node& node) const final {
    return step_.facts_before(node);
  }
  [[nodiscard]] Result<std::optional<std::string>> obstacle(const StepRequest& order) final {
    return step_.obstacle(order);
  }
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& order) final {
    return step_.begin(order);
  }
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& order) override {
    return step_.watch(order);
  }

 private:
  StepAction& step_;
};

// Repeats the call at each look. The product makes it at most once per intent.
class BeginsAgain final : public BentStep {
 public:
  using BentStep::BentStep;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& order) override {
    return begin(order);
  }
};

// Watches twice in a row, the second time as if an hour had passed: believes the first answer.
class Impatient final : public BentStep {
 public:
  using BentStep::BentStep;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& order) override {
    auto progress = BentStep::watch(order);
    if (!progress || progress->result != StepResult::kRunning) return progress;
    StepRequest later = order;
    later.facts = progress->facts;
    later.now += std::chrono::hours(1);
    return BentStep::watch(later);
  }
};

// Gives up at the first look after a call without an answer, although the call may still take
// effect.
class GivesUp final : public BentStep {
 public:
  using BentStep::BentStep;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& order) override {
    auto progress = BentStep::watch(order);
    const StepRecord* const record = order.remediation.status.find(order.step.step);
    const bool is_unanswered = record != nullptr && call_of(*record) == Call::kUnknown;
    if (progress && progress->result == StepResult::kRunning && is_unanswered)
      progress->result = StepResult::kFailed;
    return progress;
  }
};

}  // namespace gpuward::remediator::simulation
