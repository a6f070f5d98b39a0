#include "tests/simulation/evidence_rules.h"

#include <algorithm>

namespace gpuward::remediator::simulation {

void EvidenceRules::on_written(const Remediation& before, const Remediation& after) const {
  const auto& cleared = after.status.cleared;
  if (!cleared || cleared == before.status.cleared) return;
  const Look& look = *stage_.looks.back();
  const std::string what =
      after.name + " falls to severity " + std::string(to_string(cleared->severity));
  require(look.report && look.node && look.report->boot_id == look.node->boot_id, "cleared",
          what + " without a report of its boot");
  require(look.report->severity <= cleared->severity, "cleared",
          what + " and the report says worse");
  for (const AlertEvidence& alert : before.alerts) {
    if (alert.severity <= cleared->severity || before.is_drill_beside(alert)) continue;
    require(alert.ended_at && *alert.ended_at < look.report->measured_at, "cleared",
            what + " and alert " + alert.fingerprint + " has not ended before the report");
  }
  require(!after.status.approval, "cleared", what + " and keeps the yes to what was worse");
}

void EvidenceRules::check_rest(const Remediation& remediation, const Machine& machine) const {
  const RemediationStatus& status = remediation.status;
  const bool waits = remediation.open() && status.phase == Phase::kWaiting &&
                     status.rule == "guard.evidence" &&
                     status.message.contains("the report has severity");
  if (!waits || machine.fault < Severity::kReset || machine.alerted() != machine.fault) return;
  // The alert for a given-up machine that came back fires until an operator ends it.
  if (remediation.firing_severity() >= remediation.evidence_severity()) return;
  const bool is_treated = std::ranges::any_of(status.steps, [&](const StepRecord& record) {
    return (record.step == Step::kGpuReset || is_of_the_machine(record.step)) &&
           record.severity == remediation.acted_severity();
  });
  require(is_treated, "stuck",
          remediation.name + " waits for evidence of what is over: " + status.message);
}

}  // namespace gpuward::remediator::simulation
