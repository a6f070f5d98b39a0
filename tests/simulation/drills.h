// Drills: people inject faults into exporters, allow drills on Nodes and take that back, at any
// moment; each drill ends by itself, with a restart of the machine, or early. With chance of its
// own, so that the other simulations stay as they are.
#pragma once

#include <optional>

#include "tests/simulation/drill_rules.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

class Drills {
 public:
  Drills(Stage& stage, Fleet& fleet, DrillRules& rules)
      : stage_(stage), fleet_(fleet), rules_(rules) {}

  // In the busy time.
  void do_something();
  // Those whose time is over end.
  void go_on();
  [[nodiscard]] std::optional<Clock::Steady> next() const;
  // Some are injected once more, and no label changes any more.
  void settle();
  [[nodiscard]] bool is_any_left() const { return next().has_value(); }

 private:
  void inject(Machine& machine);
  void break_down(Machine& machine);
  void label(const Machine& machine);
  void end(Machine& machine);

  Stage& stage_;
  Fleet& fleet_;
  DrillRules& rules_;
};

// In some simulations.
void let_drills_run(Setting& setting, Chance& chance);

}  // namespace gpuward::remediator::simulation
