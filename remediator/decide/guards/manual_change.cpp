#include "remediator/decide/guards/manual_change.h"

#include "remediator/model/node_mark.h"

namespace gpuward::remediator {

std::optional<std::string> manual_change(const Remediation& remediation, const kube::Node& node) {
  const auto mark = owner_annotation_on(node);
  const bool marked = mark && mark->name == remediation.name;
  // After an intent to return the node, gpuward itself has removed them.
  if (!mark && remediation.status.find(Step::kReturn) != nullptr) return std::nullopt;
  // The annotation is written in the same patch as taint and cordon, so it proves that they were
  // there even if a crash prevented the record of the step.
  const bool tainted_by_us = remediation.status.has_done(Step::kTaint) || (marked && mark->taint);
  const bool cordoned_by_us =
      remediation.status.has_done(Step::kCordon) || (marked && mark->cordon);
  if (tainted_by_us && !our_taint_on(node)) return "manual change: the taint was removed";
  if (cordoned_by_us && !node.unschedulable) return "manual change: the node was uncordoned";
  return std::nullopt;
}

}  // namespace gpuward::remediator
