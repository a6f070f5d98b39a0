// One run of one check on a thread of its own, with a deadline. The run owns all it looks at, so
// that one that is stuck in the kernel can be left behind: it then touches nothing of ours. Used by
// the runner and by the check command.
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

// What a run is given; it keeps a copy.
struct RunRequest {
  CheckEntry entry;
  std::shared_ptr<Check> check;
  Snapshot snapshot;
  CheckSettings settings;
  HostPaths host;
  std::string instance_type;
  bool is_exclusive = false;
  // The exporter's state folder, for the lock of what loads the GPUs (GpuLock); empty: the caller
  // has it already.
  std::filesystem::path state_folder = {};
  // Why what needs idle GPUs may not begin now; nullopt: it may. Asked on the run's thread, may
  // block for seconds. Has to own what it uses.
  std::function<std::optional<std::string>()> objection = nullptr;
  // Called on the run's thread with its result, before it counts as ended: writes the result file.
  // Has to own what it uses.
  std::function<void(const CheckResult&)> on_result = nullptr;
};

class CheckRun {
 public:
  // `clock` must live as long as the process where a run may be left behind: lasting_clock().
  CheckRun(RunRequest request, Clock& clock);
  // Asks it to stop and waits for a second at most. One that is stuck is left behind, with all it
  // owns, until the process ends: a thread cannot be ended from outside.
  ~CheckRun();
  CheckRun(const CheckRun&) = delete;
  CheckRun& operator=(const CheckRun&) = delete;

  // Its result, once it has ended; nullopt until then.
  [[nodiscard]] std::optional<CheckResult> result() const;
  // Its preconditions were not met, so that it looked at nothing. Once it has ended.
  [[nodiscard]] bool was_skipped() const;
  // Blocks until it has ended or `limit` of real time has passed; whether it has ended.
  bool wait(std::chrono::milliseconds limit) const;
  void request_stop() { thread_.request_stop(); }

  [[nodiscard]] WallTime started() const { return started_; }
  [[nodiscard]] Clock::Steady deadline() const { return deadline_; }
  // What to say of a run that is past its deadline and has not ended.
  [[nodiscard]] CheckResult overdue(WallTime now) const;

 private:
  struct Shared;
  WallTime started_;
  Clock::Steady deadline_;
  std::shared_ptr<Shared> shared_;
  std::jthread thread_;
};

}  // namespace gpuward::exporter
