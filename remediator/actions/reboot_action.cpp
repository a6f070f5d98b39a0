#include "remediator/actions/reboot_action.h"

#include "core/kube/objects.h"
#include "remediator/actions/step_progress.h"

namespace gpuward::remediator {
Facts RebootAction::facts_before(const kube::Node& node) const {
  return {{kBootBeforeFact, node.boot_id},
          {kInstanceFact, node.provider_id},
          {kCallFact, std::string(to_string(Call::kUnknown))}};
}

Result<StepProgress> RebootAction::begin(const StepRequest& request) {
  if (request.node.boot_id.empty()) {
    return with_call(failed_for_operator(
                         request, "the node reports no boot ID, so a restart cannot be detected"),
                     Call::kNone);
  }
  const auto asked = provider_.reboot({.remediation = request.remediation.name,
                                       .node = request.node.meta.name,
                                       .node_uid = request.node.meta.uid,
                                       .provider_id = request.node.provider_id,
                                       .boot_id = request.node.boot_id,
                                       .labels = request.node.meta.labels},
                                      permit_of_call(request));
  if (asked) {
    return with_call(progress_of(request, StepResult::kRunning, "the restart was requested"),
                     Call::kAccepted);
  }
  const Error& why = asked.error();
  if (is_not_now(why.kind)) return held_back(request, why);
  if (is_of_rights(why.kind))
    return with_call(failed_for_operator(request, why.message), Call::kNone);
  if (!may_have_arrived(why.kind)) {
    return with_call(
        progress_of(request, StepResult::kFailed, "the restart was refused: " + why.message),
        Call::kNone);
  }
  return progress_of(request, StepResult::kRunning,
                     "restart requested, response unknown; not retrying yet: " + why.message);
}

Result<StepProgress> RebootAction::watch(const StepRequest& request) {
  const std::string before = fact_of(request, kBootBeforeFact);
  if (request.node.provider_id != fact_of(request, kInstanceFact))
    return failed_for_operator(request, "the node now runs on a different instance");
  if (request.node.boot_id.empty() || request.node.boot_id == before) {
    const StepRecord* record = request.remediation.status.find(Step::kReboot);
    const bool is_accepted = record != nullptr && call_of(*record) == Call::kAccepted;
    return progress_of(
        request, StepResult::kRunning,
        is_accepted
            ? "waiting for the node to report a new boot ID"
            : "restart requested, response unknown; the node has not reported a new boot ID");
  }
  if (!is_ready(request.node)) {
    return progress_of(request, StepResult::kRunning,
                       "the node has restarted and is not Ready yet");
  }
  return progress_of(request, StepResult::kDone,
                     "the node is back with boot ID " + request.node.boot_id);
}

}  // namespace gpuward::remediator
