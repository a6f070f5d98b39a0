// The Alertmanager of a simulation: says what alerts there are, twice, late, in another order, or
// not at all, and comes again where the webhook did not take it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "remediator/sources/intake.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

class Notifier {
 public:
  using Deliver = std::function<bool(const AlertSignal&)>;  // false: it was not taken

  Notifier(Stage& stage, Fleet& fleet) : stage_(stage), fleet_(fleet) {}

  // Notices the alerts of some machine as they are now; some of it gets lost.
  void notice();
  // Sends one of what waits; true where there was something.
  bool send_one(const Deliver& deliver);
  // All alerts of one machine, as they are now.
  void say_all(const Machine& machine, const Deliver& deliver);
  // Says everything as it is now, once each, in order.
  void say_what_is_new(const Deliver& deliver);
  void forget_what_was_said();

 private:
  [[nodiscard]] AlertSignal signal_for(const Machine& machine, Severity severity,
                                       const Alert& alert) const;
  [[nodiscard]] static AlertSignal foreign_signal_for(const Machine& machine);
  [[nodiscard]] static AlertSignal drill_signal_for(const Machine& machine, Severity severity,
                                                    const Alert& alert);
  // Nobody comes again with it: only the other sources know.
  [[nodiscard]] bool is_lost();

  Stage& stage_;
  Fleet& fleet_;
  std::vector<AlertSignal> waiting_;
};

}  // namespace gpuward::remediator::simulation
