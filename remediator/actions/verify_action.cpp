#include "remediator/actions/verify_action.h"

#include <algorithm>

#include "core/kube/node_ready.h"
#include "core/runtime/clock.h"
#include "remediator/actions/step_progress.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kVerifyInterval{15};

}  // namespace

Result<StepProgress> VerifyAction::begin(const StepRequest& order) { return watch(order); }

Result<StepProgress> VerifyAction::watch(const StepRequest& order) {
  if (order.remediation.status.has_done(Step::kTerminate)) return replacement_.watch(order);
  StepProgress progress{.result = StepResult::kRunning,
                        .message = {},
                        .facts = order.facts,
                        .look_again = kVerifyInterval};
  if (const auto why = objection(order)) {
    progress.facts.erase(kHealthySinceFact);
    progress.message = "not well yet: " + *why;
    return progress;
  }
  const WallTime since = healthy_since(order).value_or(order.now);
  progress.facts[kHealthySinceFact] = to_rfc3339_ms(since);
  progress.message = "looks well since " + to_rfc3339(since);
  if (order.now - since >= order.step.soak) progress.result = StepResult::kDone;
  return progress;
}

std::optional<std::string> VerifyAction::objection(const StepRequest& order) {
  if (!is_ready(order.node)) return "the node is not Ready";
  if (order.remediation.any_firing()) return "an alert fires";
  if (reports_ == nullptr) return "no --prometheus.url is set to read health reports from";
  const auto report = reports_->latest(order.node.meta.name);
  if (!report) return why_no_report(report.error());
  const StepRecord* record = order.remediation.status.find(Step::kVerify);
  const WallTime begun = record != nullptr && record->intent_at ? *record->intent_at : order.now;
  return objection_to(*report, order.node,
                      {.after = begun,
                       .max_age = policy_.get()->return_to_service.max_report_age,
                       .now = order.now});
}

}  // namespace gpuward::remediator
