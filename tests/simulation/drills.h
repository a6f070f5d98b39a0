// Drills: operators inject faults into exporters, and allow drills on Nodes and withdraw that at
// any moment. Each drill ends at its time, with a restart of the machine, or early. Has its own
// chance, so that the other simulations stay as they are.
#pragma once

#include <optional>

#include "tests/simulation/drill_rules.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

class Drills {
 public:
  Drills(Stage& stage, Fleet& fleet, DrillRules& rules)
      : stage_(stage), fleet_(fleet), rules_(rules) {}

  // One event of the busy time.
  void do_something();
  // Ends the drills whose time is over.
  void go_on();
  [[nodiscard]] std::optional<Clock::Steady> next() const;
  // Injects some more faults; no label changes any more.
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

// Applies to some simulations.
void let_drills_run(Setting& setting, Chance& chance);

}  // namespace gpuward::remediator::simulation
