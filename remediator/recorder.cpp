#include "remediator/recorder.h"

#include <string>

#include "core/runtime/clock.h"

namespace gpuward::remediator {

void Recorder::on_notification(const WebhookOutcome& outcome) {
  counters_.count(outcome);
  log_.debug("Received a notification", {{"status", std::to_string(outcome.status)},
                                         {"accepted", std::to_string(outcome.accepted)},
                                         {"duplicate", std::to_string(outcome.duplicate)},
                                         {"ignored", std::to_string(outcome.ignored)}});
  if (outcome.truncated > 0) {
    log_.warn("Alertmanager truncated a notification: raise max_alerts of the receiver",
              {{"missing", std::to_string(outcome.truncated)}});
  }
  if (outcome.rejected > 0) {
    log_.warn("Rejected alerts that are meant for gpuward",
              {{"alerts", std::to_string(outcome.rejected)}, {"first", outcome.problem}});
  }
  if (outcome.failure.empty()) return;
  log_.warn("A notification was refused",
            {{"status", std::to_string(outcome.status)}, {"reason", std::string(outcome.failure)}});
}

void Recorder::on_ignored(const AlertSignal& signal, Ignored reason) {
  counters_.count(reason);
  if (!signal.firing || !ignored_.is_new(signal, reason)) return;
  log_.warn("Ignored a firing alert", {{"node", signal.node},
                                       {"alert", signal.alertname},
                                       {"fingerprint", signal.fingerprint},
                                       {"since", to_rfc3339(signal.starts_at)},
                                       {"reason", std::string(to_string(reason))}});
}

void Recorder::on_audit(const AuditRecord& record) {
  counters_.count(record);
  audit_.write(record);
  const Log::Fields fields = {{"node", record.remediation.node},
                              {"action", std::string(record.action)},
                              {"remediation", record.remediation.name},
                              {"why", record.decision.message}};
  if (record.moment == AuditMoment::kDone) return log_.info("Node changed", fields);
  if (record.moment == AuditMoment::kDecided) log_.debug("Decided", fields);
}

void Recorder::on_milestone(Milestone milestone, std::chrono::duration<double> since_fault) {
  counters_.count(milestone, since_fault);
}

void Recorder::on_error(const std::string& node, const Error& error) {
  counters_.count(error);
  log_.warn("Operation failed, retrying", {{"node", node}, {"error", error.message}});
}

}  // namespace gpuward::remediator
