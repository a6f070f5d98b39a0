// Steps that are watched as the product never does: each is what one of its guards keeps from
// happening.
#pragma once

#include "remediator/actions/step_action.h"
#include "remediator/actions/step_progress.h"

namespace gpuward::remediator::simulation {

// As `step`, but for what a descendant changes.
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

// Repeats the call at each look; the product makes it at most once for an intent.
class BeginsAgain final : public BentStep {
 public:
  using BentStep::BentStep;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& order) override {
    return begin(order);
  }
};

// Watched as if an hour had passed, one look right after the other: its word is believed at once.
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

// Given up at the first look after a call without an answer, which may still take effect.
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
