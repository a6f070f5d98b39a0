// Positive evidence that a node is healthy again. A resolved alert or a vanished series is not
// evidence: only a fresh report of the exporter on that node, in the current boot, counts.
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
  // Worst of the evidence that rests on more than a line of the kernel log.
  Severity confirmed_severity = Severity::kNone;
  std::string boot_id;                        // the boot that the report describes
  Severity drill_severity = Severity::kNone;  // worst of the injected faults, which the other
                                              // fields leave out
  // False if a GPU is missing, silent or not joined and it is too soon after boot or driver load to
  // judge it.
  bool is_settled = true;
  bool sees_kernel_log = false;  // otherwise the report misses everything the kernel says
  // When a check last measured this severity or a worse one, in that boot.
  std::map<Severity, std::chrono::system_clock::time_point> observed_at = {};
  // Worst severity that a diagnostic has found in that boot.
  Severity diagnostics_severity = Severity::kNone;
  std::string error_class = {};  // of the worst finding; empty if the report names none
  // Serial numbers of the GPUs that need a reset or worse, UUIDs if a board has none; sorted.
  std::vector<std::string> gpus = {};
  // GPUs that other nodes report too, or have reported since this node does (gpu_claims.h). They
  // say nothing about the machine and are not among `gpus`.
  std::vector<std::string> contested_gpus = {};
};

// Returns the report as only a drill may use it: injected faults count as real ones.
[[nodiscard]] HealthReport with_drill(HealthReport report);

// Source of the reports (sources/prometheus_reports). Thread-safe.
class HealthReports {
 public:
  virtual ~HealthReports() = default;
  // Returns the latest report. kNotFound: nothing is known of the node. kInvalid: two exporters
  // report about it and differ. kOverloaded: the source failed to answer a moment ago and was not
  // queried.
  [[nodiscard]] virtual Result<HealthReport> latest(std::string_view node) = 0;
};

// Says why there is no report, in a text that stays the same: curl's texts contain milliseconds,
// and each check would write a new status.
[[nodiscard]] std::string why_no_report(const Error& error);

struct HealthDemand {
  std::chrono::system_clock::time_point after{};  // the report must be newer: end of the last alert
  std::chrono::milliseconds max_age{0};
  std::chrono::system_clock::time_point now;
};

// Says why the report does not justify a disruptive step of severity `wanted` on `node` now;
// nullopt if it does. Lines of the kernel log alone justify none.
[[nodiscard]] std::optional<std::string> objection_to_disruption(const HealthReport& report,
                                                                 const kube::Node& node,
                                                                 Severity wanted,
                                                                 const HealthDemand& demand);

// Says why the report, beyond the above, does not justify ending the node's machine; nullopt if it
// does. A state that was seen once and is only latched since justifies at most a restart. Enough is
// a state that was measured within kStateLasts, or a diagnostic that has failed in this boot.
inline constexpr std::chrono::seconds kStateLasts{120};
[[nodiscard]] std::optional<std::string> objection_to_the_end(
    const HealthReport& report, Severity wanted, std::chrono::system_clock::time_point now);

// Says why the report does not show that the cause of severity `raised` is over; nullopt if it
// does. `demand.after`: when the alerts that raised it ended.
[[nodiscard]] std::optional<std::string> objection_to_clearing(const HealthReport& report,
                                                               const kube::Node& node,
                                                               Severity raised,
                                                               const HealthDemand& demand);

// Says why the report is not enough to return `node` to service; nullopt if it is.
[[nodiscard]] std::optional<std::string> objection_to(const HealthReport& report,
                                                      const kube::Node& node,
                                                      const HealthDemand& demand);

}  // namespace gpuward::remediator
