// The step `out-of-service` of a silent node: adds the taint of that name if a proof says that the
// machine has no power. Kubernetes then moves the pods and volumes. A machine that is down but not
// proven off may still write, so the step adds no taint and the next step follows.
#pragma once

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/act/actions/step_action.h"
#include "remediator/model/machine_proofs.h"

namespace gpuward::remediator {

// The arguments must outlive the action; `proofs` is null if nothing can prove that a machine is
// off. Thread-safe.
class OutOfServiceAction final : public StepAction {
 public:
  OutOfServiceAction(kube::Api& api, ProofSource* proofs) : api_(api), proofs_(proofs) {}
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  // Does the same as begin(). Setting the taint again changes nothing.
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;

 private:
  kube::Api& api_;
  ProofSource* proofs_;
};

}  // namespace gpuward::remediator
