// One run of one check on its own thread, with a deadline. The run owns all its inputs, so that a
// run that is stuck in the kernel can be left behind and touches nothing of the caller. Used by the
// runner and the check command.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

// The inputs of a run, which keeps a copy.
struct RunRequest {
  CheckEntry entry;
  std::shared_ptr<Check> check;
  Snapshot snapshot;
  CheckSettings settings;
  HostPaths host;
  std::string instance_type;
  bool is_exclusive = false;
  // The exporter's state folder, for the lock of the checks that load the GPUs (GpuLock). Empty:
  // the caller already holds the lock.
  std::filesystem::path state_folder = {};
  // Returns why a check that needs idle GPUs may not start now; nullopt: it may. Called on the
  // run's thread, may block for seconds. Must own what it uses.
  std::function<std::optional<std::string>()> objection = nullptr;
  // Called on the run's thread with the result, before the run counts as ended: writes the result
  // file. Must own what it uses.
  std::function<void(const CheckResult&)> on_result = nullptr;
};

class CheckRun {
 public:
  // If a run may be left behind, `clock` must live as long as the process: lasting_clock().
  CheckRun(RunRequest request, Clock& clock);
  // Requests a stop and waits for at most a second. A stuck run is left behind with all it owns
  // until the process ends, because a thread cannot be ended from outside.
  ~CheckRun();
  CheckRun(const CheckRun&) = delete;
  CheckRun& operator=(const CheckRun&) = delete;

  // Returns the result once the run has ended; nullopt until then.
  [[nodiscard]] std::optional<CheckResult> result() const;
  // Returns whether the check was skipped without an examination. Valid once the run has ended.
  [[nodiscard]] bool was_skipped() const;
  // Blocks until the run has ended or `limit` of real time has passed. Returns whether it has
  // ended.
  bool wait(std::chrono::milliseconds limit) const;
  void request_stop() { thread_.request_stop(); }

  [[nodiscard]] WallTime started() const { return started_; }
  [[nodiscard]] Clock::Steady deadline() const { return deadline_; }
  // Returns the result to report for a run that is past its deadline and has not ended.
  [[nodiscard]] CheckResult overdue(WallTime now) const;

 private:
  struct Shared;
  WallTime started_;
  Clock::Steady deadline_;
  std::shared_ptr<Shared> shared_;
  std::jthread thread_;
};

}  // namespace gpuward::exporter
