#include "remediator/intake/returned_machines.h"

#include <algorithm>
#include <chrono>

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

// When the node was last not Ready, or an alert beside those of history last fired; max: one fires
// now.
WallTime spoke_against(const Remediation& remediation, const kube::Node& node) {
  WallTime last = ready_since(node).value_or(WallTime{});
  for (const AlertEvidence& alert : remediation.alerts) {
    if (is_of_history(alert) || !remediation.counts(alert) || alert.severity <= Severity::kMonitor)
      continue;
    last = std::max(last, alert.ended_at.value_or(WallTime::max()));
  }
  return last;
}

// When a check of the node last measured severity reset or worse in this boot.
WallTime last_measured(const HealthReport& report) {
  WallTime last{};
  for (const auto& [severity, at] : report.observed_at) {
    if (severity >= Severity::kReset) last = std::max(last, at);
  }
  return last;
}

// As `verify` at that severity has it in the policy, or by default.
std::chrono::milliseconds soak_of(const Policy& policy, Severity severity) {
  const auto& plan = plan_of(policy, policy.pool, severity);
  const auto verify = std::ranges::find(plan, Step::kVerify, &PlannedStep::step);
  return verify == plan.end() ? planned(Step::kVerify).soak : verify->soak;
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
  Soaks soaks;
  for (const Remediation& one : open) {
    for (const AlertEvidence& alert : one.alerts) {
      if (alert.firing() && is_of_history(alert) && is_verified(one, alert, failed, soaks))
        ends.push_back(end_of(alert, one.node, clock_.wall()));
    }
  }
  soaks_ = std::move(soaks);
  return ends;
}

bool ReturnedMachines::is_verified(const Remediation& remediation, const AlertEvidence& alert,
                                   const std::set<std::string>& failed_machines, Soaks& soaks) {
  if (remediation.wish.machine_replaced) return true;
  const auto node = last_node(view_, remediation.node);
  const bool is_there = node != nullptr && node->meta.uid == remediation.node_uid;
  if (!may_be_verified(alert) || !is_there || !is_ready(*node) || reports_ == nullptr) return false;
  // A report that is healthy says less than the diagnostic did.
  if (failed_machines.contains(remediation.node) &&
      !was_done_since(remediation.status, Step::kGpuReset, alert.starts_at))
    return false;
  const auto report = reports_->latest(remediation.node);
  if (!report) return false;
  const HealthDemand demand{.after = alert.starts_at,
                            .max_age = policy_.get()->return_to_service.max_report_age,
                            .now = clock_.wall()};
  if (objection_to(*report, *node, demand)) return false;
  const SoakKey key{remediation.name, alert.fingerprint};
  const auto known = soaks_.find(key);
  Soak& soak = soaks[key];
  if (known != soaks_.end()) soak = known->second;
  return has_soaked(remediation, *node, *report, soak);
}

// Looks are minutes apart. What the node says of the time between them breaks the soak, which
// restarts then.
bool ReturnedMachines::has_soaked(const Remediation& remediation, const kube::Node& node,
                                  const HealthReport& report, Soak& soak) const {
  const bool is_broken = soak.boot_id != node.boot_id ||
                         spoke_against(remediation, node) > soak.since ||
                         last_measured(report) > soak.measured_at;
  if (is_broken) {
    soak = {.boot_id = node.boot_id,
            .since = clock_.wall(),
            .measured_at = report.measured_at,
            .begun = clock_.steady()};
  }
  const auto policy = policy_for(policy_.get(), node.meta.labels);
  return clock_.steady() - soak.begun >= soak_of(*policy, remediation.evidence_severity());
}

}  // namespace gpuward::remediator
