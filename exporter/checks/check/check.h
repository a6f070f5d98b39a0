// One check of the node. Its run() looks and says what it has found; the runner, not the check,
// gives it its deadline, measures it, decides its status and keeps its result. A new check is one
// file and one line in all.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/check_result.h"
#include "core/runtime/clock.h"
#include "exporter/checks/check/check_programs.h"
#include "exporter/checks/check/check_settings.h"
#include "exporter/host/host_paths.h"
#include "exporter/host/instance_profile.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

// What a check may look at. All of it outlives the run.
struct CheckContext {
  const Snapshot& snapshot;  // findings, newest GPU telemetry, workloads: as of the run's start
  const CheckSettings& settings;
  const HostPaths& host;
  const std::string& instance_type;               // empty where it is unknown
  const std::optional<InstanceProfile>& profile;  // nullopt: no profile for this type
  Clock& clock;
  std::stop_token stop;       // requested at the deadline and at the program's end
  bool is_exclusive = false;  // the caller vouches that the node is idle
};

struct CheckOutcome {
  enum class Kind : std::uint8_t { kDone, kSkipped, kError };
  Kind kind = Kind::kDone;
  // kSkipped, kError: why. kDone: a summary for people.
  std::string details;
  // What is wrong, also beside kError (a part could not be read, another part is faulty). The
  // runner fills in check, evidence (kMeasured) and times.
  std::vector<Finding> findings;
  // The worst of what other watchers have latched and that this check speaks for (Xids).
  Severity latched = Severity::kNone;
  // What could not be looked at; kError without any stands for all.
  std::vector<Untold> untold;
  std::vector<Suspected> suspected;  // as in CheckResult
  std::string no_job;                // likewise

  [[nodiscard]] static CheckOutcome done(std::string details, std::vector<Finding> findings = {}) {
    return {Kind::kDone, std::move(details), std::move(findings), Severity::kNone, {}, {}, {}};
  }
  [[nodiscard]] static CheckOutcome skipped(std::string why) {
    return {Kind::kSkipped, std::move(why), {}, Severity::kNone, {}, {}, {}};
  }
  [[nodiscard]] static CheckOutcome error(std::string why) {
    return {Kind::kError, std::move(why), {}, Severity::kNone, {}, {}, {}};
  }
};

class Check {
 public:
  virtual ~Check() = default;
  // A thread of the check's own; may block, must return soon after a stop. Called again only after
  // it has returned.
  [[nodiscard]] virtual CheckOutcome run(const CheckContext& context) = 0;
};

// kNone: what the settings add (checks.programs).
enum class Suite : std::uint8_t { kLightweight, kIntensive, kNone };

// Instead of a number, for each check of checks.programs.
inline constexpr int kProgramNumber = -1;

struct CheckEntry {
  int number = 0;          // 0..6, as the replaced suite counts them, or kProgramNumber
  std::string name;        // "0-nvidia-smi": in metrics, results and findings
  std::string short_name;  // "nvidia-smi": for --check
  Suite suite = Suite::kLightweight;
  // Runs by itself: kEachCycle every check_interval, kDiagnostic every dcgm_l2_interval,
  // kOwnInterval every `interval`; kOnDemand only when somebody asks.
  enum class Rhythm : std::uint8_t { kEachCycle, kDiagnostic, kOwnInterval, kOnDemand };
  Rhythm rhythm = Rhythm::kEachCycle;
  std::chrono::milliseconds interval{0};  // kOwnInterval only
  bool needs_idle_gpus = false;           // skipped while a pod or a process uses them
  bool loads_gpus = false;                // never beside another that does, of whatever process
  // A pass proves the GPUs healthy: findings that diagnostics clear go.
  bool is_diagnostic = false;
  std::chrono::milliseconds timeout{0};  // default; settings may change it
  // What it runs of others with these settings; empty: nothing.
  std::function<CheckPrograms(const CheckSettings& settings)> programs = nullptr;
  std::function<std::unique_ptr<Check>()> make;
};

// All checks, ascending by number (all.cpp).
[[nodiscard]] std::span<const CheckEntry> all_checks();
// The one of that number, which must be 0 to 6.
[[nodiscard]] const CheckEntry& check_numbered(int number);
// `checks`, and those that the settings add (checks.programs).
[[nodiscard]] std::vector<CheckEntry> with_programs(std::span<const CheckEntry> checks,
                                                    const CheckSettings& settings);

}  // namespace gpuward::exporter
