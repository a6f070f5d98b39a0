// The step `out-of-service` of a silent node: if a proof says that its machine has no power, the
// taint of that name lets Kubernetes move its pods and volumes. If the machine is down but not
// proven off, it does nothing, and the next step follows: such a machine may still write.
#pragma once

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/actions/step_action.h"
#include "remediator/guards/machine_proofs.h"

namespace gpuward::remediator {

// All must outlive it; `proofs` is null if nothing can prove a machine off. Thread-safe.
class OutOfServiceAction final : public StepAction {
 public:
  OutOfServiceAction(kube::Api& api, ProofSource* proofs) : api_(api), proofs_(proofs) {}
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  // The same as begin(): setting the taint again changes nothing.
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;

 private:
  kube::Api& api_;
  ProofSource* proofs_;
};

}  // namespace gpuward::remediator
