// Positive evidence that a node is healthy again. A resolved alert or a vanished series is none:
// only a fresh report of the exporter on that very node, in the boot that runs now, counts.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/model/severity.h"

namespace gpuward::remediator {

struct HealthReport {
  std::chrono::system_clock::time_point measured_at;
  Severity severity = Severity::kNone;  // worst of all evidence on the node
  // Worst of what rests on more than a line of the kernel log.
  Severity confirmed_severity = Severity::kNone;
  std::string boot_id;                        // the boot that the report is about
  Severity drill_severity = Severity::kNone;  // worst of what was injected; of none of the others
  // False: a GPU is missing, silent or not joined, and it is too soon after boot or driver load to
  // judge it.
  bool is_settled = true;
  bool sees_kernel_log = false;  // else it would not know of anything that the kernel says
  // When a check last measured, in that boot, that the node is that bad or worse.
  std::map<Severity, std::chrono::system_clock::time_point> observed_at = {};
  // Of what a diagnostic has found in that boot.
  Severity diagnostics_severity = Severity::kNone;
  std::string error_class = {};  // of the worst finding; empty where none is told
  // Of the GPUs that need a reset or worse: serial numbers, UUIDs where a board has none; sorted.
  std::vector<std::string> gpus = {};
  // Of those: other nodes report them too, or did so since this node does (gpu_claims.h). They say
  // nothing of the machine and are not among `gpus`.
  std::vector<std::string> contested_gpus = {};
};

// The report as a drill takes it: what was injected is as good as real. For nothing else.
[[nodiscard]] HealthReport with_drill(HealthReport report);

// Where reports come from (sources/prometheus_reports). Any thread.
class HealthReports {
 public:
  virtual ~HealthReports() = default;
  // kNotFound where nothing is known of the node, kInvalid where two exporters speak for it and
  // differ, kOverloaded where the source has not answered a moment ago and was not asked.
  [[nodiscard]] virtual Result<HealthReport> latest(std::string_view node) = 0;
};

// Why there is no report, in words that stay the same: curl's texts have milliseconds in them, and
// would make a new status of every look.
[[nodiscard]] std::string why_no_report(const Error& error);

struct HealthDemand {
  std::chrono::system_clock::time_point after{};  // it must be newer: when the last alert ended
  std::chrono::milliseconds max_age{0};
  std::chrono::system_clock::time_point now;
};

// Why the report does not justify a disruptive step of severity `wanted` on `node` now; nullopt
// where it does. What only lines of the kernel log say justifies none.
[[nodiscard]] std::optional<std::string> objection_to_disruption(const HealthReport& report,
                                                                 const kube::Node& node,
                                                                 Severity wanted,
                                                                 const HealthDemand& demand);

// Why the report does not justify, beyond the above, that the machine of the node is ended: what
// was only once seen and is latched since justifies at most a restart. Enough is a state that was
// measured within kStateLasts, or a diagnostic that has failed in this boot.
inline constexpr std::chrono::seconds kStateLasts{120};
[[nodiscard]] std::optional<std::string> objection_to_the_end(
    const HealthReport& report, Severity wanted, std::chrono::system_clock::time_point now);

// Why the report does not show that what raised a Remediation to severity `raised` is over; nullopt
// where it does. `demand.after`: when the alerts that raised it ended.
[[nodiscard]] std::optional<std::string> objection_to_clearing(const HealthReport& report,
                                                               const kube::Node& node,
                                                               Severity raised,
                                                               const HealthDemand& demand);

// Why the report is not enough to put `node` back into service; nullopt where it is.
[[nodiscard]] std::optional<std::string> objection_to(const HealthReport& report,
                                                      const kube::Node& node,
                                                      const HealthDemand& demand);

}  // namespace gpuward::remediator
