#include "tests/simulation/machine.h"

#include "remediator/inbox/sources/alertmanager_alerts.h"
#include "tests/simulation/setting.h"

namespace gpuward::remediator::simulation {

std::map<std::string, std::string> Machine::labels_of(Severity severity) const {
  return {{"alertname", "GpuNodeBad"},
          {"node", name},
          {"remediation", std::string(to_string(severity))}};
}

std::string Machine::fingerprint(Severity severity) const {
  return fingerprint_of(labels_of(severity));
}

std::map<std::string, std::string> Machine::foreign_labels() const {
  return {{"alertname", kForeignAlert}, {"instance", name + ":9400"}, {"serial", instance()}};
}

std::map<std::string, std::string> Machine::drill_labels(Severity severity) const {
  return {{"alertname", kDrillAlert},
          {"node", name},
          {"drill", "true"},
          {"drill_remediation", std::string(to_string(severity))}};
}

std::vector<FiringAlert> Machine::firing() const {
  std::vector<FiringAlert> all;
  for (const auto& [severity, alert] : alerts) {
    if (!alert.is_firing) continue;
    all.push_back({.labels = labels_of(severity),
                   .fingerprint = fingerprint(severity),
                   .severity = severity,
                   .starts_at = alert.starts_at});
  }
  for (const auto& [severity, alert] : drill.alerts) {
    if (!alert.is_firing) continue;
    const auto labels = drill_labels(severity);
    all.push_back({.labels = labels,
                   .fingerprint = fingerprint_of(labels),
                   .severity = severity,
                   .starts_at = alert.starts_at,
                   .drill = true});
  }
  if (!foreign.is_firing) return all;
  all.push_back({.labels = foreign_labels(),
                 .fingerprint = fingerprint_of(foreign_labels()),
                 .severity = kForeignSeverity,
                 .starts_at = foreign.starts_at,
                 .foreign = true});
  return all;
}

}  // namespace gpuward::remediator::simulation
