// The step `drain`: removes the pods from the node by the settings of the plan. Used by
// act/actions/all.cpp. begin() may be repeated at any time, because each eviction names the UID of
// its pod.
#pragma once

#include "remediator/act/actions/step_action.h"
#include "remediator/act/drain/drainer.h"

namespace gpuward::remediator {

class DrainAction final : public StepAction {
 public:
  // `own_pod`: "namespace/name" of this process; empty if it runs outside a cluster.
  DrainAction(Drainer& drainer, std::string own_pod)
      : drainer_(drainer), own_pod_(std::move(own_pod)) {}
  [[nodiscard]] bool is_only_watched() const override { return true; }
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;
  [[nodiscard]] Result<std::optional<StepUndone>> undone(const StepRequest& request) override;
  // Removes the waiting evictions of this node from the queue without sending them.
  [[nodiscard]] Status abandon(const StepRequest& request) override;

 private:
  [[nodiscard]] DrainRequest drain_of(const StepRequest& request) const;

  Drainer& drainer_;
  std::string own_pod_;
};

}  // namespace gpuward::remediator
