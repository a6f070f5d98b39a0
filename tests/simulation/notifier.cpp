#include "tests/simulation/notifier.h"

namespace gpuward::remediator::simulation {

Order Notifier::order_for(const Machine& machine, Severity severity, const Alert& alert) const {
  return {.node = machine.name,
          .severity = severity,
          .alertname = "GpuNodeBad",
          .fingerprint = machine.fingerprint(severity),
          .firing = alert.is_firing,
          .starts_at = alert.starts_at,
          .ends_at = alert.ends_at};
}

void Notifier::notice() {
  const Machine& machine = stage_.chance.pick(fleet_.machines());
  for (const auto& [severity, alert] : machine.alerts) {
    const int copies = std::array{0, 1, 2, 3}[stage_.chance.weighted({10, 70, 15, 5})];
    for (int i = 0; i < copies; ++i) waiting_.push_back(order_for(machine, severity, alert));
  }
}

bool Notifier::send_one(const Deliver& deliver) {
  if (waiting_.empty()) return false;
  const auto at = static_cast<std::size_t>(
      stage_.chance.happens(0.7) ? 0
                                 : stage_.chance.between(0, static_cast<int>(waiting_.size()) - 1));
  const Order order = waiting_[at];
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
  if (!deliver(order)) waiting_.push_back(order);
  return true;
}

void Notifier::say_all(const Machine& machine, const Deliver& deliver) const {
  for (const auto& [severity, alert] : machine.alerts) {
    (void)deliver(order_for(machine, severity, alert));
  }
}

void Notifier::say_what_is_new(const Deliver& deliver) {
  for (Machine& machine : fleet_.machines()) {
    if (!machine.exists) continue;
    for (auto& [severity, alert] : machine.alerts) {
      const bool is_said = alert.said_birth == machine.births &&
                           alert.said_firing == alert.is_firing &&
                           alert.said_start == alert.starts_at;
      if (is_said || !deliver(order_for(machine, severity, alert))) continue;
      alert.said_birth = machine.births;
      alert.said_firing = alert.is_firing;
      alert.said_start = alert.starts_at;
    }
  }
}

void Notifier::forget_what_was_said() {
  for (Machine& machine : fleet_.machines()) {
    for (auto& [severity, alert] : machine.alerts) alert.said_birth = 0;
  }
}

}  // namespace gpuward::remediator::simulation
