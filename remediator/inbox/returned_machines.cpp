#include "remediator/inbox/returned_machines.h"

#include <algorithm>
#include <chrono>

#include "core/runtime/text.h"
#include "remediator/cluster/view_queries.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/step_facts.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kWithin{10};
// The leader's slow round is due every minute.
constexpr std::chrono::minutes kLongestUnseen{3};

AlertSignal signal_for(const ReturnedMachine& machine, WallTime now) {
  const NodeIdentity& node = machine.node;
  const std::string name(machine.is_contradictory ? kContradictoryAlert : kReturnedAlert);
  return {.node = node.name,
          .severity = machine.severity,
          .alertname = name,
          .fingerprint = history_fingerprint(name, node.uid),
          .firing = true,
          // The API server's clock may be ahead, and gpuward ignores alerts older than their node.
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

// A machine that was to be isolated may look healthy for a while: an operator has to end that.
bool may_be_verified(const AlertEvidence& alert) {
  return alert.alertname == kContradictoryAlert || alert.severity < Severity::kIsolate;
}

bool speaks_against(const Remediation& remediation, const AlertEvidence& alert) {
  return !is_of_history(alert) && remediation.counts(alert) && alert.severity > Severity::kMonitor;
}

// When an alert other than those of history last ended; max: one fires now.
WallTime alerts_ended(const Remediation& remediation) {
  WallTime last{};
  for (const AlertEvidence& alert : remediation.alerts) {
    if (speaks_against(remediation, alert))
      last = std::max(last, alert.ended_at.value_or(WallTime::max()));
  }
  return last;
}

// Returns whether `verify` is running, has soaked its full time in this boot after the last alert,
// and waits only for the history to end.
bool has_verified(const RemediationStatus& status, const std::string& boot_id,
                  WallTime alerts_ended) {
  const StepRecord* const verify = status.find(Step::kVerify);
  const bool is_under_way = status.phase == Phase::kVerifying && verify != nullptr &&
                            verify->result == StepResult::kRunning;
  if (!is_under_way || boot_id.empty()) return false;
  const auto since = parse_rfc3339(value_at(verify->facts, kHealthySinceFact));
  return value_at(verify->facts, kVerifiedBootFact) == boot_id &&
         verify->facts.contains(kSoakedFact) && since &&
         *since >= std::chrono::floor<std::chrono::milliseconds>(alerts_ended);
}

// The soak time of `verify` at that severity in the policy, or the default.
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

// Returns the ends of alerts of history that no longer apply.
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
  // A healthy report does not outweigh the failed diagnostic.
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
  return has_soaked(remediation, *node, soak);
}

// Checks are a minute apart. An alert, another boot, and a change of the condition Ready between
// two of them break the soak. So does a longer time without a check, in which another replica may
// have led.
bool ReturnedMachines::has_soaked(const Remediation& remediation, const kube::Node& node,
                                  Soak& soak) const {
  const auto now = clock_.steady();
  const Soak seen{.boot_id = node.boot_id,
                  .ready_since = ready_since(node),
                  .alerts_ended = alerts_ended(remediation),
                  .begun = now};
  const bool is_unbroken = soak.boot_id == seen.boot_id && soak.ready_since == seen.ready_since &&
                           soak.alerts_ended == seen.alerts_ended &&
                           seen.alerts_ended != WallTime::max() &&
                           now - soak.looked_at <= kLongestUnseen;
  if (!is_unbroken) soak = seen;
  soak.looked_at = now;
  const auto policy = policy_for(policy_.get(), node.meta.labels);
  const bool has_verified_too =
      now > soak.begun && has_verified(remediation.status, node.boot_id, seen.alerts_ended);
  return has_verified_too || now - soak.begun >= soak_of(*policy, remediation.evidence_severity());
}

}  // namespace gpuward::remediator
