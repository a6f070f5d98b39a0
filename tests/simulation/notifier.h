// The Alertmanager of a simulation: sends the alerts twice, late, in another order, or not at all,
// and retries when the webhook does not accept them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "remediator/inbox/sources/intake.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

class Notifier {
 public:
  using Deliver = std::function<bool(const AlertSignal&)>;  // false: the webhook did not accept it

  Notifier(Stage& stage, Fleet& fleet) : stage_(stage), fleet_(fleet) {}

  // Queues the present alerts of a drawn machine; some of them get lost.
  void notice();
  // Sends one of the queued alerts; returns true if there was one.
  bool send_one(const Deliver& deliver);
  // Sends all present alerts of one machine.
  void say_all(const Machine& machine, const Deliver& deliver);
  // Sends each change since the last call, once, in order.
  void say_what_is_new(const Deliver& deliver);
  void forget_what_was_said();

 private:
  [[nodiscard]] AlertSignal signal_for(const Machine& machine, Severity severity,
                                       const Alert& alert) const;
  [[nodiscard]] static AlertSignal foreign_signal_for(const Machine& machine);
  [[nodiscard]] static AlertSignal drill_signal_for(const Machine& machine, Severity severity,
                                                    const Alert& alert);
  // Whether the alert is lost, without a retry: only the other sources have it.
  [[nodiscard]] bool is_lost();

  Stage& stage_;
  Fleet& fleet_;
  std::vector<AlertSignal> waiting_;
};

}  // namespace gpuward::remediator::simulation
