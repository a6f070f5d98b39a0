#include "tests/simulation/run.h"

#include "tests/simulation/world.h"

namespace gpuward::remediator::simulation {

Outcome run_seed(std::uint64_t seed, Size size, Sabotage sabotage) {
  World world(seed, size, sabotage);
  Outcome outcome;
  try {
    world.run();
  } catch (const Broken& broken) {
    outcome.invariant = broken.invariant;
    outcome.what = broken.what;
  }
  outcome.trace.assign(world.trace().last().begin(), world.trace().last().end());
  outcome.hash = world.trace().hash();
  outcome.lines = world.trace().lines();
  return outcome;
}

}  // namespace gpuward::remediator::simulation
