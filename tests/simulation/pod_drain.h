// The product's own drain of one replica, over the pods of the simulation. A removal belongs to the
// Remediation whose permit was requested for it. Dies with the process.
#pragma once

#include "remediator/act/actions/drain_action.h"
#include "tests/simulation/invariants.h"

namespace gpuward::remediator::simulation {

class PodDrain final : public StepAction {
 public:
  PodDrain(Stage& stage, Invariants& invariants, kube::Api& api)
      : stage_(stage),
        invariants_(invariants),
        evictor_(api, stage.clock, stage.setting.evictions, Evictor::Sending::kInCalls),
        drainer_(api, evictor_, stage.clock) {}
  [[nodiscard]] bool is_only_watched() const override { return true; }
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& order) override {
    return watch(order);
  }
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& order) override;
  [[nodiscard]] Result<std::optional<StepUndone>> undone(const StepRequest& order) override;
  [[nodiscard]] Status abandon(const StepRequest& order) override { return action_.abandon(order); }

 private:
  Stage& stage_;
  Invariants& invariants_;
  Evictor evictor_;
  Drainer drainer_;
  DrainAction action_{drainer_, ""};
};

}  // namespace gpuward::remediator::simulation
