#include "remediator/intake/returned_machines.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/runtime/text.h"
#include "remediator/model/diagnostics.h"
#include "remediator/records/view_queries.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kWithin{10};

AlertSignal signal_for(const ReturnedMachine& machine, WallTime now) {
  const NodeIdentity& node = machine.node;
  const std::string name(machine.is_contradictory ? kContradictoryAlert : kReturnedAlert);
  return {.node = node.name,
          .severity = machine.severity,
          .alertname = name,
          .fingerprint = history_fingerprint(name, node.uid),
          .firing = true,
          // The API server's clock may be ahead: an alert that is older than its node is ignored.
          .starts_at = std::max(now, node.created.value_or(now)),
          .ends_at = {}};
}

AlertSignal end_of(const AlertEvidence& alert, const std::string& node, WallTime now) {
  return {.node = node,
          .severity = alert.severity,
          .alertname = alert.alertname,
          .fingerprint = alert.fingerprint,
          .firing = false,
          .starts_at = alert.starts_at,
          .ends_at = std::max(now, alert.starts_at)};
}

// What was to be isolated may look healthy for a while: an operator says when it is.
bool may_be_verified(const AlertEvidence& alert) {
  return alert.alertname == kContradictoryAlert || alert.severity < Severity::kIsolate;
}

}  // namespace

Status ReturnedMachines::take_in() {
  if (!view_.informers().synced()) return {};
  std::vector<AlertSignal> signals = verified();
  for (const ReturnedMachine& machine : returned_machines(view_))
    signals.push_back(signal_for(machine, clock_.wall()));
  if (signals.empty()) return {};
  const auto taken = intake_.take(signals, clock_.steady() + kWithin);
  if (!taken) return with_context("machines that have come back", taken.error());
  return {};
}

// The ends of alerts of history that are no longer true.
std::vector<AlertSignal> ReturnedMachines::verified() {
  std::vector<Remediation> open;
  std::set<std::string> names;
  for_each_remediation(view_, [&](const Remediation& one) {
    if (!one.open() || std::ranges::none_of(one.alerts, is_of_history)) return;
    open.push_back(one);
    names.insert(one.node);
  });
  const auto failed = failed_before(view_, names);
  std::vector<AlertSignal> ends;
  for (const Remediation& one : open) {
    for (const AlertEvidence& alert : one.alerts) {
      if (alert.firing() && is_of_history(alert) &&
          is_verified(one, alert, failed.contains(one.node)))
        ends.push_back(end_of(alert, one.node, clock_.wall()));
    }
  }
  return ends;
}

bool ReturnedMachines::is_verified(const Remediation& remediation, const AlertEvidence& alert,
                                   bool has_failed_diagnostic) {
  if (remediation.wish.machine_replaced) return true;
  const auto node = last_node(view_, remediation.node);
  const bool is_there = node != nullptr && node->meta.uid == remediation.node_uid;
  if (!may_be_verified(alert) || !is_there || reports_ == nullptr) return false;
  // A report that is healthy says less than the diagnostic did.
  if (has_failed_diagnostic &&
      !was_done_since(remediation.status, Step::kGpuReset, alert.starts_at))
    return false;
  const auto report = reports_->latest(remediation.node);
  if (!report) return false;
  return !objection_to(*report, *node,
                       {.after = alert.starts_at,
                        .max_age = policy_.get()->return_to_service.max_report_age,
                        .now = clock_.wall()});
}

}  // namespace gpuward::remediator
