#include "tests/simulation/late_alerts.h"

#include <algorithm>

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::seconds;

constexpr std::size_t kRemembered = 60;

}  // namespace

void LateAlerts::on_taken(const AlertSignal& signal) {
  if (!stage_.setting.says_late) return;
  if (said_.size() >= kRemembered) said_.erase(said_.begin());
  said_.push_back(signal);
  const auto holders = holders_of(signal);
  if (!signal.firing || holders.size() != 1) return;  // either of two may have recorded it
  auto& start = started_[{holders.front()->uid, signal.fingerprint}];
  start = std::max(start, signal.starts_at);
}

// The open Remediations that have the alert, including those of an earlier Node of that name.
std::vector<const Remediation*> LateAlerts::holders_of(const AlertSignal& signal) const {
  std::vector<const Remediation*> holders;
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    if (!remediation.open() || remediation.node != signal.node) continue;
    const bool knows_it = std::ranges::any_of(remediation.alerts, [&](const AlertEvidence& known) {
      return known.fingerprint == signal.fingerprint;
    });
    if (knows_it) holders.push_back(&remediation);
  }
  return holders;
}

// The first of them that belongs to the present Node; null if there is none.
const Remediation* LateAlerts::holder_of(const AlertSignal& signal) const {
  const NodeTruth* const node = stage_.truth.node(signal.node);
  for (const Remediation* const holder : holders_of(signal)) {
    if (node != nullptr && holder->node_uid == node->node.meta.uid) return holder;
  }
  return nullptr;
}

const AlertEvidence* LateAlerts::evidence_of(const AlertSignal& signal) const {
  const Remediation* const holder = holder_of(signal);
  if (holder == nullptr) return nullptr;
  return &*std::ranges::find(holder->alerts, signal.fingerprint, &AlertEvidence::fingerprint);
}

const Alert* LateAlerts::alert_of(const std::string& fingerprint) const {
  for (const Machine& machine : fleet_.machines()) {
    for (const auto& [severity, alert] : machine.alerts) {
      if (machine.exists && machine.fingerprint(severity) == without_origin(fingerprint))
        return &alert;
    }
  }
  return nullptr;
}

// The end of an alert that fires; without a node if none fires.
AlertSignal LateAlerts::forged_end() {
  const Machine& machine = stage_.late_chance.pick(fleet_.machines());
  for (const auto& [severity, alert] : machine.alerts) {
    if (!machine.exists || !alert.is_firing) continue;
    return {.node = machine.name,
            .severity = severity,
            .alertname = "GpuNodeBad",
            .fingerprint = machine.fingerprint(severity),
            .firing = false,
            .starts_at = alert.starts_at - seconds(1),
            .ends_at = stage_.true_time()};
  }
  return {};
}

void LateAlerts::say_something(const Deliver& deliver) {
  if (!stage_.setting.says_late || !stage_.late_chance.happens(0.2)) return;
  if (stage_.late_chance.happens(0.3)) {
    const AlertSignal forged = forged_end();
    if (!forged.node.empty()) say_late(forged, deliver);
  } else if (!said_.empty()) {
    say_late(AlertSignal(stage_.late_chance.pick(said_)), deliver);
  }
}

void LateAlerts::say_late(const AlertSignal& signal, const Deliver& deliver) {
  const AlertEvidence* const known = evidence_of(signal);
  const Alert* const alert = alert_of(signal.fingerprint);
  if (known == nullptr || alert == nullptr) return (void)deliver(signal);
  const std::string holder = holder_of(signal)->uid;
  const bool was_firing = known->firing(), is_firing = alert->is_firing;
  const WallTime start = alert->starts_at;
  const auto heard = started_.find({holder, signal.fingerprint});
  const bool is_old_end = !signal.firing && is_firing && heard != started_.end() &&
                          heard->second == start && signal.ends_at < start;
  const bool is_denied = !signal.firing && is_firing && stage_.setting.has_alertmanager;
  // The end may come from a clock that has gone back since.
  const auto ago = was_firing ? Clock::Wall::duration(0) : stage_.clock.wall() - *known->ended_at;
  const bool is_just_over =
      !was_firing && stage_.jumped.count() == 0 && ago.count() >= 0 && ago < kLateRepeats / 2;
  const bool is_late_copy =
      signal.firing && !is_firing && is_just_over && signal.starts_at <= known->starts_at;
  stage_.trace.say("late: alert " + signal.fingerprint + (signal.firing ? " fires" : " has ended"));
  (void)deliver(signal);
  // The cluster may have changed meanwhile.
  const AlertEvidence* const after = evidence_of(signal);
  const Alert* const now = alert_of(signal.fingerprint);
  if (after == nullptr || now == nullptr || now->is_firing != is_firing || now->starts_at != start)
    return;
  if (holder_of(signal)->uid != holder) return;
  require(!is_old_end || !was_firing || after->firing(), "old-recovery",
          signal.fingerprint + " fires anew, and the end of an earlier episode has ended it");
  require(!is_denied || !was_firing || after->firing(), "forged-recovery",
          signal.fingerprint + " has ended, and Alertmanager has it still");
  require(!is_late_copy || !after->firing(), "late-firing",
          signal.fingerprint + " fires again by a copy that came after its end");
}

bool LateAlerts::poll(std::vector<AlertSignal> known, const Deliver& deliver) {
  if (!loses_ends() || stage_.setting.places.polls || stage_.is_off(Sabotage::kAbsent))
    return false;
  std::erase_if(known, [](const AlertSignal& signal) {
    const std::string& fingerprint = signal.fingerprint;  // Alertmanager's: 16 digits, no origin
    return fingerprint.size() != 16 || fingerprint.contains('.');
  });
  const auto firing = alertmanager_.all_firing(std::chrono::seconds(5));
  if (!firing) {
    absent_.forget();
    return false;
  }
  bool has_ended = false;
  for (const AlertSignal& signal : absent_.ended(std::move(known), *firing, stage_.clock))
    has_ended = deliver(signal) || has_ended;
  return has_ended;
}

void LateAlerts::check_rest() const {
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    if (!remediation.open()) continue;
    for (const AlertEvidence& known : remediation.alerts) {
      const Alert* const alert = alert_of(known.fingerprint);
      require(alert == nullptr || alert->is_firing || !known.firing(), "lost-end",
              name + ": " + known.fingerprint + " has ended, and counts as firing");
    }
  }
}

}  // namespace gpuward::remediator::simulation
