#include "remediator/actions/reboot_action.h"

#include "core/kube/node_ready.h"
#include "remediator/actions/step_progress.h"

namespace gpuward::remediator {
namespace {

const std::string kBootBefore = "bootIDBefore";

}  // namespace

Facts RebootAction::facts_before(const kube::Node& node) const {
  return {{kBootBefore, node.boot_id}, {kInstanceFact, node.provider_id}};
}

Result<StepProgress> RebootAction::begin(const StepOrder& order) {
  if (order.node.boot_id.empty()) {
    return progress_of(
        order, StepResult::kFailed,
        "the node does not say which boot it is in: nobody could tell that it restarted");
  }
  if (auto allowed = order.permit(); !allowed) return held_back(order, allowed.error());
  const auto asked = provider_.reboot({.remediation = order.remediation.name,
                                       .node = order.node.meta.name,
                                       .node_uid = order.node.meta.uid,
                                       .provider_id = order.node.provider_id,
                                       .boot_id = order.node.boot_id,
                                       .labels = order.node.meta.labels});
  if (asked) return progress_of(order, StepResult::kRunning, "the restart is asked for");
  if (is_not_now(asked.error().kind)) return held_back(order, asked.error());
  if (is_of_rights(asked.error().kind)) return failed_for_a_human(order, asked.error().message);
  if (!may_have_arrived(asked.error().kind))
    return progress_of(order, StepResult::kFailed, asked.error().message);
  return progress_of(order, StepResult::kRunning,
                     "it is not known whether the restart was accepted, and it is not asked for "
                     "again: " +
                         asked.error().message);
}

Result<StepProgress> RebootAction::watch(const StepOrder& order) {
  const std::string before = fact_of(order, kBootBefore);
  if (order.node.provider_id != fact_of(order, kInstanceFact)) {
    return progress_of(order, StepResult::kFailed, "the node has another instance than before");
  }
  if (order.node.boot_id.empty() || order.node.boot_id == before) {
    return progress_of(order, StepResult::kRunning,
                       "waiting for the node to come back in another boot");
  }
  if (!is_ready(order.node)) {
    return progress_of(order, StepResult::kRunning, "the node has restarted and is not Ready yet");
  }
  return progress_of(order, StepResult::kDone, "the node is back in boot " + order.node.boot_id);
}

}  // namespace gpuward::remediator
