// Runs promtool or amtool; tests check the exit code and the output.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/process.h"

namespace gpuward::alerts {

// Standard output and error together; exit code -1 if the program could not be run in time.
struct Said {
  int exit_code = -1;
  std::string text;
};

[[nodiscard]] inline Said run(std::vector<std::string> argv) {
  // Rules over days of series take long on a busy machine.
  auto outcome = support::Process::run({.argv = std::move(argv)}, std::chrono::minutes(5));
  if (!outcome) return {-1, outcome.error().message};
  return {outcome->exit_code, outcome->output + outcome->error_output};
}

}  // namespace gpuward::alerts
