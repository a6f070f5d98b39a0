// The step `out-of-service` of a silent node: where a proof says that its machine is without power,
// the taint of that name lets Kubernetes move its pods and volumes. Of a machine that is down and
// not proven off it does nothing, and the next step follows: such a machine may still write.
#pragma once

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/actions/step_action.h"
#include "remediator/guards/machine_proofs.h"

namespace gpuward::remediator {

// All must outlive it; `proofs` is null where nothing proves a machine off. Any thread.
class OutOfServiceAction final : public StepAction {
 public:
  OutOfServiceAction(kube::Api& api, ProofSource* proofs) : api_(api), proofs_(proofs) {}
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  // As begin(): the taint is the same however often it is put on.
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;

 private:
  kube::Api& api_;
  ProofSource* proofs_;
};

}  // namespace gpuward::remediator
