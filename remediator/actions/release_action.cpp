#include "remediator/actions/release_action.h"

#include "remediator/guards/konduktor_taint.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/ownership.h"

namespace gpuward::remediator {

std::optional<NodePlan> plan_release(const ActionOrder& order, const kube::Node& node) {
  const auto mark = mark_on(node);
  const bool tainted = our_taint_on(node).has_value();
  const bool cordoned = is_own_cordon(order.remediation, node);
  if (!has_marks(node) && !cordoned) return std::nullopt;
  NodePlan plan;
  if (tainted) {
    plan.change.remove_taints.push_back({.key = std::string(kTaintKey),
                                         .value = {},
                                         .effect = std::string(kTaintEffect),
                                         .raw = {}});
  }
  if (mark && mark->konduktor && has_konduktor_taint(node))
    plan.change.remove_taints.push_back(konduktor_taint());
  if (node.meta.annotations.contains(std::string(kAnnotation)))
    plan.change.remove_annotations.emplace_back(kAnnotation);
  if (cordoned) plan.change.unschedulable = false;
  return plan;
}

}  // namespace gpuward::remediator
