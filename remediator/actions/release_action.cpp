#include "remediator/actions/release_action.h"

#include "remediator/safety/konduktor_taint.h"
#include "remediator/safety/node_mark.h"

namespace gpuward::remediator {

std::optional<NodePlan> plan_release(const ActionOrder& order, const kube::Node& node) {
  const auto mark = mark_on(node);
  // Another Remediation's mark is another Remediation's business.
  if (mark && mark->name != order.remediation.name) return std::nullopt;
  const bool tainted = our_taint_on(node).has_value();
  if (!mark && !tainted) return std::nullopt;
  NodePlan plan;
  if (tainted) {
    plan.change.remove_taints.push_back({.key = std::string(kTaintKey),
                                         .value = {},
                                         .effect = std::string(kTaintEffect),
                                         .raw = {}});
  }
  if (mark && mark->konduktor && has_konduktor_taint(node))
    plan.change.remove_taints.push_back(konduktor_taint());
  if (mark) {
    plan.change.remove_annotations.emplace_back(kAnnotation);
    // The mark is on the Node, where the node's own agent may write: it cannot make a cordon ours
    // that the Remediation knows to be foreign.
    const bool is_foreign =
        mark->pre_existing_cordon || order.remediation.status.pre_existing_cordon.value_or(false);
    if (mark->cordon && !is_foreign && node.unschedulable) {
      plan.change.unschedulable = false;
    }
  }
  return plan;
}

}  // namespace gpuward::remediator
