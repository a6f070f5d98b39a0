// Runs one seed and returns its outcome. Used by the program and by the tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/sabotage.h"
#include "tests/simulation/setting.h"

namespace gpuward::remediator::simulation {

struct Outcome {
  std::uint64_t hash = 0, lines = 0;
  std::string invariant, what;  // the broken one; empty if all held
  std::vector<std::string> trace;

  [[nodiscard]] bool holds() const { return invariant.empty(); }
};

[[nodiscard]] Outcome run_seed(std::uint64_t seed, Size size = Size::kAny,
                               Sabotage sabotage = Sabotage::kNone);

}  // namespace gpuward::remediator::simulation
