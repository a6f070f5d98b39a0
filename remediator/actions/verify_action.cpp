#include "remediator/actions/verify_action.h"

#include <algorithm>

#include "core/kube/objects.h"
#include "core/runtime/clock.h"
#include "remediator/actions/step_progress.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kVerifyInterval{15};

}  // namespace

Result<StepProgress> VerifyAction::begin(const StepRequest& request) { return watch(request); }

Result<StepProgress> VerifyAction::watch(const StepRequest& request) {
  if (request.remediation.status.has_done(Step::kTerminate)) return replacement_.watch(request);
  StepProgress progress{.result = StepResult::kRunning,
                        .message = {},
                        .facts = request.facts,
                        .look_again = kVerifyInterval};
  if (const auto why = objection(request)) {
    progress.facts.erase(kHealthySinceFact);
    progress.message = "not healthy yet: " + *why;
    return progress;
  }
  const WallTime since = healthy_since(request).value_or(request.now);
  progress.facts[kHealthySinceFact] = to_rfc3339_ms(since);
  progress.message = "healthy since " + to_rfc3339(since);
  if (request.now - since >= request.step.soak) progress.result = StepResult::kDone;
  return progress;
}

std::optional<std::string> VerifyAction::objection(const StepRequest& request) {
  if (!is_ready(request.node)) return "the node is not Ready";
  const auto& alerts = request.remediation.alerts;
  // A node that is maintained had no fault, and what is only recorded does not keep it out.
  const bool is_maintained = request.remediation.acted_severity() <= Severity::kMonitor;
  const auto speaks = [&](const AlertEvidence& alert) {
    return alert.firing() && request.remediation.counts(alert) &&
           (!is_maintained || alert.severity > Severity::kMonitor);
  };
  if (const auto firing = std::ranges::find_if(alerts, speaks); firing != alerts.end())
    return "alert " + firing->alertname + " fires";
  if (reports_ == nullptr) return "no --prometheus.url is set to read health reports from";
  auto report = reports_->latest(request.node.meta.name);
  if (!report) return why_no_report(report.error());
  if (request.remediation.is_drill()) report = with_drill(*std::move(report));
  const StepRecord* record = request.remediation.status.find(Step::kVerify);
  const WallTime begun = record != nullptr && record->intent_at ? *record->intent_at : request.now;
  return objection_to(*report, request.node,
                      {.after = begun,
                       .max_age = policy_.get()->return_to_service.max_report_age,
                       .now = request.now});
}

}  // namespace gpuward::remediator
