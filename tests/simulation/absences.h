// Long times in which no replica can act: either no replica runs, or the stop switch says stop.
// They last longer than every limit of a step. The machines, their clouds and the rest of the world
// continue. Has its own chance.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// Some simulations have such times. A few also keep few closed records.
void let_time_pass(Setting& setting, Chance& chance);

class Absences {
 public:
  struct World {
    std::function<void()> pass_a_while;  // everything but the replicas
    std::function<void()> look;          // a replica reconciles a node that is due
    std::function<void()> start_all;     // replaces all processes by new ones
  };
  // `stage` must outlive it.
  Absences(Stage& stage, World world) : stage_(stage), world_(std::move(world)) {}

  void do_something();

 private:
  void nobody_runs(std::chrono::milliseconds span);
  void all_is_stopped(std::chrono::milliseconds span);

  Stage& stage_;
  const World world_;
};

}  // namespace gpuward::remediator::simulation
