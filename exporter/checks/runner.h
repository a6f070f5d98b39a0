// Runs the enabled checks by their timetable, each on a thread of its own, and writes what they
// find into the store. It has no thread itself: its owner calls tick() about once a second,
// which never blocks. The store knows which quick checks have no result yet (Health::awaited), from
// the construction on. At the end it waits for running checks for a second each at most (CheckRun).
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
  std::filesystem::path state_folder = {};  // of the lock of what loads the GPUs (GpuLock)
  std::span<const CheckEntry> checks = all_checks();  // beside those that the settings add
  // The settings in force; asked at each tick, so that new ones count at the next cycle.
  std::function<std::shared_ptr<const CheckSettings>()> settings;
  // Who else has the node and its GPUs now (RunRequest::objection); empty where nobody can.
  std::function<std::optional<std::string>()> objection = nullptr;
};

class CheckRunner {
 public:
  // `store`, `clock` and `log` must outlive it.
  CheckRunner(RunnerOptions options, Store& store, Clock& clock, Log& log);
  ~CheckRunner();
  CheckRunner(const CheckRunner&) = delete;
  CheckRunner& operator=(const CheckRunner&) = delete;

  // One thread. Starts what is due, takes what has ended, says what is overdue.
  void tick();
  // Checks that run now.
  [[nodiscard]] std::size_t running() const;

 private:
  // One check and what is known of it. Its Check keeps what it remembers from run to run.
  struct Job {
    std::shared_ptr<Check> check;
    std::unique_ptr<CheckRun> run;
    std::optional<Clock::Steady> last;  // start of its last run, in this process
    bool has_result = false;            // of this process, since it was enabled
    // The store has a status or findings of it, also of an earlier process.
    bool is_in_store = false;
    // Of a diagnostic: when it runs, once that is known, and the interval that it was known for.
    std::optional<WallTime> slot;
    std::chrono::milliseconds slot_interval{0};
    bool is_overdue_said = false;
    bool is_pause_said = false;  // in its status
    // Set where its run was stopped for a release: its result counts for nothing.
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
  // While the GPUs are released: no check runs, and each has to run again after it.
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
  Clock::Steady waits_since_;  // for the first reading and results: the start, or a release's end
  bool has_warned_of_awaited_ = false;
  bool has_first_reading_ = false;   // or has waited for it long enough
  std::vector<int> warned_of_;       // the enabled checks that it was last asked for
  std::map<std::string, Job> jobs_;  // by the name of the check
};

// Whether the settings have it run by itself.
[[nodiscard]] bool is_enabled(const CheckEntry& entry, const CheckSettings& settings);

}  // namespace gpuward::exporter
