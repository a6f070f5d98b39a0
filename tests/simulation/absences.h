// Times that are longer than every limit of a step and in which none can act: no replica runs, or
// the stop switch says stop. The machines, their clouds and the rest of the world continue. With
// chance of their own.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// In some simulations there are such times, and in some few closed records are kept.
void let_time_pass(Setting& setting, Chance& chance);

class Absences {
 public:
  struct World {
    std::function<void()> pass_a_while;  // of everything but the replicas
    std::function<void()> look;          // a replica looks at something that is due
    std::function<void()> start_all;     // new processes instead of the old ones
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
