#include "tests/simulation/notifier.h"

#include "remediator/inbox/sources/alertmanager_alerts.h"

namespace gpuward::remediator::simulation {

AlertSignal Notifier::signal_for(const Machine& machine, Severity severity,
                                 const Alert& alert) const {
  return {.node = machine.name,
          .severity = severity,
          .alertname = "GpuNodeBad",
          .fingerprint = machine.fingerprint(severity),
          .firing = alert.is_firing,
          .starts_at = alert.starts_at,
          .ends_at = alert.ends_at};
}

AlertSignal Notifier::foreign_signal_for(const Machine& machine) {
  return {.node = machine.name,
          .severity = kForeignSeverity,
          .alertname = kForeignAlert,
          .fingerprint = fingerprint_of(machine.foreign_labels()),
          .firing = machine.foreign.is_firing,
          .starts_at = machine.foreign.starts_at,
          .ends_at = machine.foreign.ends_at,
          .foreign = true};
}

AlertSignal Notifier::drill_signal_for(const Machine& machine, Severity severity,
                                       const Alert& alert) {
  return {.node = machine.name,
          .severity = severity,
          .alertname = kDrillAlert,
          .fingerprint = fingerprint_of(machine.drill_labels(severity)),
          .firing = alert.is_firing,
          .starts_at = alert.starts_at,
          .ends_at = alert.ends_at,
          .drill = true};
}

bool Notifier::is_lost() {
  const double loss = stage_.setting.places.webhook_loss;
  return loss > 0 && stage_.places_chance.happens(loss);
}

void Notifier::notice() {
  const Machine& machine = stage_.chance.pick(fleet_.machines());
  for (const auto& [severity, alert] : machine.alerts) {
    const int copies = std::array{0, 1, 2, 3}[stage_.chance.weighted({10, 70, 15, 5})];
    for (int i = 0; i < copies; ++i) waiting_.push_back(signal_for(machine, severity, alert));
  }
  for (const auto& [severity, alert] : machine.drill.alerts)
    waiting_.push_back(drill_signal_for(machine, severity, alert));
  if (machine.foreign.starts_at > WallTime()) waiting_.push_back(foreign_signal_for(machine));
}

bool Notifier::send_one(const Deliver& deliver) {
  if (waiting_.empty()) return false;
  const auto at = static_cast<std::size_t>(
      stage_.chance.happens(0.7) ? 0
                                 : stage_.chance.between(0, static_cast<int>(waiting_.size()) - 1));
  const AlertSignal signal = waiting_[at];
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
  if (is_lost()) return true;
  if (!deliver(signal)) waiting_.push_back(signal);
  return true;
}

void Notifier::say_all(const Machine& machine, const Deliver& deliver) {
  for (const auto& [severity, alert] : machine.alerts) {
    if (!is_lost()) (void)deliver(signal_for(machine, severity, alert));
  }
  for (const auto& [severity, alert] : machine.drill.alerts) {
    if (!is_lost()) (void)deliver(drill_signal_for(machine, severity, alert));
  }
}

void Notifier::say_what_is_new(const Deliver& deliver) {
  const auto say = [&](const Machine& machine, Alert& alert, const AlertSignal& signal) {
    const bool is_said = alert.said_birth == machine.births &&
                         alert.said_firing == alert.is_firing &&
                         alert.said_start == alert.starts_at;
    if (is_said || (!is_lost() && !deliver(signal))) return;
    alert.said_birth = machine.births;
    alert.said_firing = alert.is_firing;
    alert.said_start = alert.starts_at;
  };
  for (Machine& machine : fleet_.machines()) {
    if (!machine.exists) continue;
    for (auto& [severity, alert] : machine.alerts)
      say(machine, alert, signal_for(machine, severity, alert));
    for (auto& [severity, alert] : machine.drill.alerts)
      say(machine, alert, drill_signal_for(machine, severity, alert));
    if (machine.foreign.starts_at > WallTime())
      say(machine, machine.foreign, foreign_signal_for(machine));
  }
}

void Notifier::forget_what_was_said() {
  for (Machine& machine : fleet_.machines()) {
    for (auto& [severity, alert] : machine.alerts) alert.said_birth = 0;
    for (auto& [severity, alert] : machine.drill.alerts) alert.said_birth = 0;
    machine.foreign.said_birth = 0;
  }
}

}  // namespace gpuward::remediator::simulation
