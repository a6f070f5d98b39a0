#include "remediator/act/actions/verify_action.h"

#include <algorithm>

#include "core/kube/objects.h"
#include "core/runtime/clock.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/decide/guards/other_repairers.h"
#include "remediator/model/gpu_operands.h"
#include "remediator/model/history_alerts.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kVerifyInterval{15};

// Returns whether the alert keeps the node from its return. During maintenance an alert that is
// only recorded does not count. An alert about the machine's history says nothing about its health
// now. Such an alert has its own soak time (inbox/returned_machines).
bool speaks_against(const StepRequest& request, const AlertEvidence& alert) {
  const bool is_maintained = request.remediation.acted_severity() <= Severity::kMonitor;
  return request.remediation.counts(alert) && !is_of_history(alert) &&
         (!is_maintained || alert.severity > Severity::kMonitor);
}

// Returns since when the node has been healthy. The soak time restarts after an alert that fired
// and ended between two checks, after a node that was not Ready, and after another boot.
WallTime unbroken_since(const StepRequest& request) {
  if (fact_of(request, kVerifiedBootFact) != request.node.boot_id) return request.now;
  WallTime since = healthy_since(request).value_or(request.now);
  if (const auto ready = ready_since(request.node)) since = std::max(since, *ready);
  for (const AlertEvidence& alert : request.remediation.alerts) {
    if (alert.ended_at && speaks_against(request, alert)) since = std::max(since, *alert.ended_at);
  }
  return since;
}

std::optional<std::string> objection_of_node(const StepRequest& request) {
  if (!is_ready(request.node)) return "the node is not Ready";
  const auto& alerts = request.remediation.alerts;
  const auto firing = std::ranges::find_if(alerts, [&](const AlertEvidence& alert) {
    return alert.firing() && speaks_against(request, alert);
  });
  if (firing == alerts.end()) return std::nullopt;
  return "alert " + firing->alertname + " fires";
}

// Returns which other program works on the node, for example on an upgrade of the driver. During
// such work no exporter reads the GPUs.
std::optional<std::string> other_at_work(const kube::Node& node, const Policy& policy) {
  if (auto who = repairer_at_work(node, policy.repairer_signs)) return who;
  return objection_to_pause(node);
}

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
    progress.facts.erase(kSoakedFact);
    progress.message = "not healthy yet: " + *why;
    if (objection_of_node(request)) return progress;
    // The node itself raises no objection, but no exporter reports that it is healthy.
    const auto other = other_at_work(request.node, *policy_.get());
    if (other) progress.message += "; " + *other;
    progress.runs_clock = !other;
    return progress;
  }
  const WallTime since = unbroken_since(request);
  const auto soaked_for = soaked(request, since, progress.facts);
  progress.facts[kVerifiedBootFact] = request.node.boot_id;
  progress.message = "healthy since " + to_rfc3339(since);
  progress.facts.erase(kSoakedFact);
  if (soaked_for < request.step.soak) return progress;
  const auto history = std::ranges::find_if(
      request.remediation.alerts,
      [](const AlertEvidence& alert) { return alert.firing() && is_of_history(alert); });
  if (history == request.remediation.alerts.end()) {
    progress.result = StepResult::kDone;
  } else {
    progress.facts[kSoakedFact] = "true";
    progress.message += ", but alert " + history->alertname + " is firing";
  }
  return progress;
}

std::optional<std::string> VerifyAction::objection(const StepRequest& request) {
  if (auto why = objection_of_node(request)) return why;
  if (reports_ == nullptr) return "cannot read health reports: --prometheus.url is not set";
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
