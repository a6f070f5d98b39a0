// Runs the enabled checks by their timetable, each on its own thread, and writes their results into
// the store. It has no thread itself: its owner calls tick() about once a second, which never
// blocks. From the construction on the store knows which quick checks have no result yet
// (Health::awaited). The destructor waits for running checks for at most a second each (CheckRun).
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/checks/check/check.h"
#include "exporter/checks/check_run.h"
#include "exporter/checks/schedule.h"

namespace gpuward::exporter {

struct RunnerOptions {
  std::string node_name;  // spreads diagnostics over the fleet
  std::string host_name;  // in result files
  HostPaths host;
  std::filesystem::path state_folder = {};  // for the lock of checks that load the GPUs (GpuLock)
  std::span<const CheckEntry> checks = all_checks();  // in addition to those of the settings
  // The settings in force. Read at each tick, so that new ones apply at the next cycle.
  std::function<std::shared_ptr<const CheckSettings>()> settings;
  // Returns why the node and its GPUs are in use (RunRequest::objection); empty if that is
  // impossible.
  std::function<std::optional<std::string>()> objection = nullptr;
};

class CheckRunner {
 public:
  // `store`, `clock` and `log` must outlive it.
  CheckRunner(RunnerOptions options, Store& store, Clock& clock, Log& log);
  ~CheckRunner();
  CheckRunner(const CheckRunner&) = delete;
  CheckRunner& operator=(const CheckRunner&) = delete;

  // Call it on one thread. Starts due checks, takes results, and reports overdue runs.
  void tick();
  // The number of checks that are running now.
  [[nodiscard]] std::size_t running() const;

 private:
  // One check and its state. Its Check object keeps its own memory from run to run.
  struct Job {
    std::shared_ptr<Check> check;
    std::unique_ptr<CheckRun> run;
    std::optional<Clock::Steady> last;  // start of its last run, in this process
    bool has_result = false;            // in this process, since the check was enabled
    // The store has a status or findings of it, possibly from an earlier process.
    bool is_in_store = false;
    // For a diagnostic: its next run if that is known, and the interval that it was computed for.
    std::optional<WallTime> slot;
    std::chrono::milliseconds slot_interval{0};
    bool is_overdue_said = false;
    bool is_pause_said = false;  // the pause is in its status
    // Set if its run was stopped for a release: its result is dropped.
    std::shared_ptr<std::atomic<bool>> is_cancelled;
  };

  [[nodiscard]] bool is_due(const CheckEntry& entry, Job& job, const CheckSettings& settings);
  [[nodiscard]] bool is_slot_reached(const CheckEntry& entry, Job& job,
                                     std::chrono::milliseconds interval);
  [[nodiscard]] bool has_first_reading();
  void warn_of_ignored(const CheckSettings& settings);
  void start(const CheckEntry& entry, Job& job, const CheckSettings& settings);
  void take(const CheckEntry& entry, Job& job);
  void watch(const CheckEntry& entry, Job& job);
  void drop_removed(const std::vector<CheckEntry>& entries);
  void withdraw(const std::string& name, Job& job);
  // Stops all checks while the GPUs are released. Each must run again afterwards.
  void pause(const std::vector<CheckEntry>& entries, const CheckSettings& settings,
             const GpuRelease& release);
  void publish_skip(const std::string& name, std::string why);
  void publish(const CheckResult& result, bool is_diagnostic);
  void tell_awaited(const std::vector<CheckEntry>& entries, const CheckSettings& settings);

  RunnerOptions options_;
  Store& store_;
  Clock& clock_;
  Log& log_;
  Timetable table_;
  Clock::Steady waits_since_;  // for first reading and results: the start, or a release's end
  bool has_warned_of_awaited_ = false;
  bool has_first_reading_ = false;   // or has waited long enough for it
  std::vector<int> warned_of_;       // the enabled checks of the last warning
  std::map<std::string, Job> jobs_;  // by name of the check
};

// Returns whether the settings run the check without a request.
[[nodiscard]] bool is_enabled(const CheckEntry& entry, const CheckSettings& settings);

}  // namespace gpuward::exporter
