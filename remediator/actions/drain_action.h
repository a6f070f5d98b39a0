// The step `drain`: removes the pods from the node by the settings of the plan. begin() may be
// repeated at any time: an eviction is bound to the pod's UID.
#pragma once

#include "remediator/actions/step_action.h"
#include "remediator/drain/drainer.h"

namespace gpuward::remediator {

class DrainAction final : public StepAction {
 public:
  // `own_pod`: "namespace/name" of this process; empty outside of a cluster.
  DrainAction(Drainer& drainer, std::string own_pod)
      : drainer_(drainer), own_pod_(std::move(own_pod)) {}
  [[nodiscard]] bool is_only_watched() const override { return true; }
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;
  [[nodiscard]] Result<std::optional<StepUndone>> undone(const StepRequest& request) override;
  // Evictions that wait for their turn are not sent.
  [[nodiscard]] Status abandon(const StepRequest& request) override;

 private:
  [[nodiscard]] DrainRequest drain_of(const StepRequest& request) const;

  Drainer& drainer_;
  std::string own_pod_;
};

}  // namespace gpuward::remediator
