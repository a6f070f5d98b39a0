#include "remediator/actions/reboot_action.h"

#include "core/kube/node_ready.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kRebootInterval{10};
const std::string kBootBefore = "bootIDBefore";
const std::string kInstance = "instanceID";

StepProgress progress(StepResult result, std::string message, const StepOrder& order) {
  return {.result = result,
          .message = std::move(message),
          .facts = order.facts,
          .look_again = kRebootInterval};
}

std::string fact(const StepOrder& order, const std::string& name) {
  const auto found = order.facts.find(name);
  return found == order.facts.end() ? std::string() : found->second;
}

}  // namespace

Facts RebootAction::facts_before(const kube::Node& node) const {
  return {{kBootBefore, node.boot_id}, {kInstance, node.provider_id}};
}

Result<StepProgress> RebootAction::begin(const StepOrder& order) {
  if (order.node.boot_id.empty()) {
    return progress(
        StepResult::kFailed,
        "the node does not say which boot it is in: nobody could tell that it restarted", order);
  }
  if (auto allowed = order.permit(); !allowed) {
    return progress(StepResult::kIntended, "reboot waits: " + allowed.error().message, order);
  }
  const auto asked = provider_.reboot({.remediation = order.remediation.name,
                                       .node = order.node.meta.name,
                                       .node_uid = order.node.meta.uid,
                                       .provider_id = order.node.provider_id,
                                       .boot_id = order.node.boot_id,
                                       .labels = order.node.meta.labels});
  if (asked) return progress(StepResult::kRunning, "the restart is asked for", order);
  const ErrorKind kind = asked.error().kind;
  if (kind != ErrorKind::kTimeout && kind != ErrorKind::kUnavailable)
    return progress(StepResult::kFailed, asked.error().message, order);
  return progress(StepResult::kRunning,
                  "it is not known whether the restart was accepted, and it is not asked for "
                  "again: " +
                      asked.error().message,
                  order);
}

Result<StepProgress> RebootAction::watch(const StepOrder& order) {
  const std::string before = fact(order, kBootBefore);
  if (order.node.provider_id != fact(order, kInstance)) {
    return progress(StepResult::kFailed, "the node has another instance than before", order);
  }
  if (order.node.boot_id.empty() || order.node.boot_id == before) {
    return progress(StepResult::kRunning, "waiting for the node to come back in another boot",
                    order);
  }
  if (!is_ready(order.node)) {
    return progress(StepResult::kRunning, "the node has restarted and is not Ready yet", order);
  }
  return progress(StepResult::kDone, "the node is back in boot " + order.node.boot_id, order);
}

}  // namespace gpuward::remediator
