// Checks that follow a test's script, and a runner that drives them on the test's own clock. Used
// by the tests of the runner and of one run.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exporter/checks/runner.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace gpuward::exporter {

// The behaviour of the next runs. The table of checks makes them without arguments, so there is one
// script.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<CheckOutcome(const CheckContext&)> run;
  int runs = 0;
  bool is_held = false;  // a run blocks until release(), even if its caller stops it

  void hold();
  void release();
};
[[nodiscard]] Script& script();
void reset_script();

[[nodiscard]] CheckEntry scripted_entry();

class Stage {
 public:
  explicit Stage(std::vector<CheckEntry> entries = {scripted_entry()},
                 LogLevel level = LogLevel::kError, State known = {});
  ~Stage();

  void gpus_answer();
  // Advances the clock and ticks until running checks have ended, if they can.
  void pass(std::chrono::milliseconds time);
  void tick() { runner_->tick(); }
  void end_runner() { runner_.reset(); }
  // Returns the result of the only check. A result that does not exist is an error without details.
  [[nodiscard]] CheckResult result() const;
  [[nodiscard]] bool has_result() const;

  // The clock lives as long as the process, as the real one does: a run that is left behind may use
  // it.
  fakes::FakeClock& clock;
  Store store;
  CheckSettings settings;
  std::optional<std::string> objection;  // the program that has the node
  std::vector<CheckEntry> entries;
  support::TempDir state_folder;

 private:
  Log log_;
  std::unique_ptr<CheckRunner> runner_;
};

}  // namespace gpuward::exporter
