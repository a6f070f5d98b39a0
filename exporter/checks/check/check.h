// One check of the node. run() examines the node and returns its findings. The runner sets the
// deadline, measures the run, decides the status and keeps the result. A new check is one file and
// one line in all.cpp.
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

// The inputs of a check. All of them outlive the run.
struct CheckContext {
  const Snapshot& snapshot;  // findings, newest GPU telemetry and workloads at the start of the run
  const CheckSettings& settings;
  const HostPaths& host;
  const std::string& instance_type;               // empty if unknown
  const std::optional<InstanceProfile>& profile;  // nullopt: no profile for this type
  Clock& clock;
  std::stop_token stop;       // requested at the deadline and when the program ends
  bool is_exclusive = false;  // the caller guarantees that the node is idle
};

struct CheckOutcome {
  enum class Kind : std::uint8_t { kDone, kSkipped, kError };
  Kind kind = Kind::kDone;
  // kSkipped, kError: the reason. kDone: a summary for people.
  std::string details;
  // The faults that the check has found. A kError outcome can have some too, if one part could not
  // be read and another part is faulty. The runner fills in check, evidence (kMeasured) and the
  // times.
  std::vector<Finding> findings;
  // The highest severity that other watchers have latched on behalf of this check (Xids).
  Severity latched = Severity::kNone;
  // The parts that the check could not examine. kError without any means all of them.
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
  // Runs on a thread of this check, may block, and must return soon after a stop. The next call
  // follows only after this one has returned.
  [[nodiscard]] virtual CheckOutcome run(const CheckContext& context) = 0;
};

// kNone: the checks that the settings add (checks.programs).
enum class Suite : std::uint8_t { kLightweight, kIntensive, kNone };

// The number of every check of checks.programs.
inline constexpr int kProgramNumber = -1;

struct CheckEntry {
  int number = 0;          // 0..6, as the replaced suite counts them, or kProgramNumber
  std::string name;        // "0-nvidia-smi": in metrics, results and findings
  std::string short_name;  // "nvidia-smi": for --check
  Suite suite = Suite::kLightweight;
  // When the check runs without a request: kEachCycle every check_interval, kDiagnostic every
  // dcgm_l2_interval, kOwnInterval every `interval`, kOnDemand never.
  enum class Rhythm : std::uint8_t { kEachCycle, kDiagnostic, kOwnInterval, kOnDemand };
  Rhythm rhythm = Rhythm::kEachCycle;
  std::chrono::milliseconds interval{0};  // kOwnInterval only
  bool needs_idle_gpus = false;           // skipped while a pod or a process uses them
  bool loads_gpus = false;  // never at the same time as another check that does, in any process
  // A pass proves that the GPUs are healthy and ends the findings that diagnostics clear.
  bool is_diagnostic = false;
  std::chrono::milliseconds timeout{0};  // default; settings may change it
  // The external programs that the check runs with these settings; empty: none.
  std::function<CheckPrograms(const CheckSettings& settings)> programs = nullptr;
  std::function<std::unique_ptr<Check>()> make;
};

// All checks, ascending by number (all.cpp).
[[nodiscard]] std::span<const CheckEntry> all_checks();
// Returns the check with that number, which must be 0 to 6.
[[nodiscard]] const CheckEntry& check_numbered(int number);
// Returns `checks` and those that the settings add (checks.programs).
[[nodiscard]] std::vector<CheckEntry> with_programs(std::span<const CheckEntry> checks,
                                                    const CheckSettings& settings);

}  // namespace gpuward::exporter
