#include <algorithm>
#include <chrono>

#include "core/runtime/clock.h"
#include "remediator/decide/draft.h"
#include "remediator/decide/maintenance.h"
#include "remediator/decide/recovery.h"
#include "remediator/model/diagnostics.h"

namespace gpuward::remediator {
namespace {

// Returns whether the severity may be lowered. A treatment or test of the machine first runs to its
// end, and a held node waits for its operator.
bool may_lower(const Draft& draft) {
  const auto treats = [&](const StepRecord& record) {
    return record.severity == draft.remediation.acted_severity() &&
           draft.remediation.counts(record) &&
           (record.step == Step::kGpuReset || is_of_the_machine(record.step));
  };
  return draft.remediation.firing_severity() < draft.remediation.evidence_severity() &&
         !draft.remediation.may_have_dropped(draft.now) &&
         !needs_operator(draft.remediation.status.phase) &&
         !is_in_recovery(draft.policy, draft.remediation) &&
         std::ranges::none_of(draft.remediation.status.steps, treats);
}

// Returns when the last alert ended that is worse than the firing alerts.
WallTime worse_ended_at(const Draft& draft) {
  WallTime last{};
  for (const AlertEvidence& alert : draft.remediation.alerts) {
    if (alert.ended_at && !draft.remediation.is_drill_beside(alert) &&
        alert.severity > draft.remediation.firing_severity())
      last = std::max(last, *alert.ended_at);
  }
  return last;
}

}  // namespace

bool is_confirmed(const Draft& draft, Severity severity) {
  const Result<HealthReport>& report = draft.asked.report();
  return report && !objection_to_disruption(
                       *report, *draft.inputs.node, severity,
                       {.after = {}, .max_age = draft.policy.max_evidence_age, .now = draft.now});
}

const StepRecord* diagnostic_in_the_way(const Draft& draft) {
  const bool is_held = draft.remediation.status.phase == Phase::kHeld;
  return untreated_diagnostic(draft.remediation, is_held ? "" : draft.inputs.node->boot_id);
}

bool may_be_no_end(const Draft& draft) {
  return diagnostic_in_the_way(draft) == nullptr &&
         draft.remediation.is_end_contested(draft.remediation.evidence_severity());
}

std::optional<Decision> lower_severity(Draft& draft) {
  if (!may_lower(draft)) return std::nullopt;
  const Severity raised = draft.remediation.evidence_severity();
  const Result<HealthReport>& report = draft.asked.report();
  const HealthDemand demand{.after = worse_ended_at(draft),
                            .max_age = draft.policy.return_to_service.max_report_age,
                            .now = draft.now};
  if (!report || objection_to_clearing(*report, *draft.inputs.node, raised, demand))
    return std::nullopt;
  const Severity left = std::max(draft.remediation.firing_severity(), report->severity);
  if (steps_for(draft.policy, left).empty()) return std::nullopt;
  draft.decision.cleared = Cleared{.severity = left, .at = report->measured_at};
  draft.decision.look_again = std::chrono::milliseconds(0);
  const Phase phase = ours_on_node(draft) ? Phase::kQuarantined : draft.remediation.status.phase;
  return conclude(draft, Verdict::kLower, phase, "severity",
                  "the alerts of severity " + std::string(to_string(raised)) +
                      " ended and a newer report shows severity " +
                      std::string(to_string(report->severity)) + "; severity is now " +
                      std::string(to_string(left)));
}

Decision decide_ended(Draft& draft) {
  if (!ours_on_node(draft)) return ended_without_trace(draft);
  if (const StepRecord* failed = diagnostic_in_the_way(draft)) {
    return conclude(draft, Verdict::kHold, Phase::kHeld, "exhausted",
                    "the alerts ended, but " + failure_text(*failed) +
                        ": held until an alert fires again. To return the " +
                        "node to service: gpuwardctl cancel " + draft.remediation.node);
  }
  const Phase phase = standing_phase(draft);
  const std::string rule = "return_to_service";
  if (!draft.policy.return_to_service.enabled) {
    return conclude(draft, Verdict::kHold, phase, rule,
                    "the alerts ended; the policy does not return nodes to service");
  }
  if (!allows(draft.policy.mode, Step::kReturn)) {
    return conclude(draft, Verdict::kHold, phase, rule,
                    "the alerts ended; mode observe changes nothing");
  }
  if (const std::string what = standing_announcements(draft.policy, draft.inputs); !what.empty()) {
    draft.decision.look_again = kReportInterval;
    return conclude(draft, Verdict::kHold, phase, rule,
                    "the alerts ended, but the node reports: " + what);
  }
  if (const auto gate = gate_before_return(draft)) {
    draft.decision.look_again = gate->look_again;
    return conclude(draft, Verdict::kHold, phase, rule, "the alerts ended, but " + gate->message);
  }
  return conclude(
      draft, Verdict::kRelease, Phase::kReleased, rule,
      "the alerts ended and a newer report of the same boot says that the node is healthy");
}

// Continues the steps if the alerts may not have ended and the report still confirms them.
// Otherwise decides their end.
Decision decide_without_alerts(Draft& draft) {
  const Severity severity = draft.remediation.evidence_severity();
  const bool continues = may_be_no_end(draft) && is_confirmed(draft, severity);
  return continues ? decide_standing(draft) : decide_ended(draft);
}

}  // namespace gpuward::remediator
