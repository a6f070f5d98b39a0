#include "remediator/act/actions/out_of_service_action.h"

#include "remediator/act/actions/step_progress.h"
#include "remediator/model/out_of_service.h"

namespace gpuward::remediator {

Result<StepProgress> OutOfServiceAction::begin(const StepRequest& request) {
  if (proofs_ == nullptr)
    return progress_of(request, StepResult::kFailed, "no proof that the machine is off");
  if (is_out_of_service(request.node))
    return progress_of(request, StepResult::kDone, "the node already has the taint");
  const auto proofs = proofs_->read(request.node);
  if (!proofs) return held_back(request, proofs.error());
  if (const auto why = objection_to_dead(*proofs, request.now))
    return held_back(request, {ErrorKind::kRefused, *why});
  const auto proof = proof_of_off(*proofs, request.now);
  if (!proof) {
    return progress_of(request, StepResult::kDone,
                       "the node stays untainted: no proof that the machine is off");
  }
  if (const auto allowed = request.permit(); !allowed) return held_back(request, allowed.error());
  kube::NodeChange change;
  change.set_taints.push_back(out_of_service_taint());
  const auto changed = api_.change_node(request.node, change);
  if (changed) {
    return progress_of(request, StepResult::kDone,
                       std::string(kOutOfServiceKey) + " is set; the machine is off (" + *proof +
                           "): Kubernetes deletes the node's pods and detaches their volumes");
  }
  const Error& why = changed.error();
  if (!is_final(why.kind)) return held_back(request, why);
  return progress_of(request, StepResult::kFailed, "the taint was refused: " + why.message);
}

Result<StepProgress> OutOfServiceAction::watch(const StepRequest& request) {
  return begin(request);
}

}  // namespace gpuward::remediator
