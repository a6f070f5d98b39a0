// A report of a node's exporter as positive evidence that the node is healthy again. A resolved
// alert or a vanished series is not evidence. Only a fresh report of the exporter on that node, in
// the current boot, counts.
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
  Severity severity = Severity::kNone;  // Worst severity of all evidence on the node.
  // Worst severity of the evidence that rests on more than a line of the kernel log.
  Severity confirmed_severity = Severity::kNone;
  std::string boot_id;  // The boot that the report describes.
  // Worst severity of the injected faults. The other fields leave these faults out.
  Severity drill_severity = Severity::kNone;
  bool is_settled = true;
  // False if the exporter cannot read the kernel log; the report then misses all errors from the
  // kernel.
  bool sees_kernel_log = false;
  // When a check last measured this severity or a worse one, in that boot.
  std::map<Severity, std::chrono::system_clock::time_point> observed_at = {};
  // Worst severity that a diagnostic has found in that boot.
  Severity diagnostics_severity = Severity::kNone;
  std::string error_class = {};  // Class of the worst finding; empty if the report names none.
  // Serial numbers of the GPUs that need a reset or worse, sorted. A board without a serial number
  // has its UUID.
  std::vector<std::string> gpus = {};
  // GPUs that another node also reports, or has reported since this node reports them
  // (gpu_claims.h). Such GPUs say nothing about the machine and are not in `gpus`.
  std::vector<std::string> contested_gpus = {};
};

// Returns the report for use by a drill only: injected faults count as real faults.
[[nodiscard]] HealthReport with_drill(HealthReport report);

// Source of the reports (inbox/sources/prometheus_reports). Thread-safe.
class HealthReports {
 public:
  virtual ~HealthReports() = default;
  // Returns the latest report. kNotFound: there is no data about the node. kInvalid: two exporters
  // report about the node and differ. kOverloaded: the source failed to answer a moment ago and was
  // not queried.
  [[nodiscard]] virtual Result<HealthReport> latest(std::string_view node) = 0;
};

// Returns why there is no report. The text stays the same for the same cause: curl's texts contain
// milliseconds, and each check would write a new status.
[[nodiscard]] std::string why_no_report(const Error& error);

struct HealthDemand {
  // The report must be newer than this: the end of the last alert.
  std::chrono::system_clock::time_point after{};
  std::chrono::milliseconds max_age{0};
  std::chrono::system_clock::time_point now;
};

// Returns why the report does not justify a disruptive step of severity `wanted` on `node` now;
// nullopt if it does. Lines of the kernel log alone justify no such step.
[[nodiscard]] std::optional<std::string> objection_to_disruption(const HealthReport& report,
                                                                 const kube::Node& node,
                                                                 Severity wanted,
                                                                 const HealthDemand& demand);

// Returns why a report without objection_to_disruption() still does not justify ending the machine;
// nullopt if it does. Needed is a state that was measured within kStateLasts, or a diagnostic that
// failed in this boot. A state that was seen once and is only latched justifies at most a restart.
inline constexpr std::chrono::seconds kStateLasts{120};
[[nodiscard]] std::optional<std::string> objection_to_the_end(
    const HealthReport& report, Severity wanted, std::chrono::system_clock::time_point now);

// Returns why the report does not show that the cause of severity `raised` is over; nullopt if it
// does. `demand.after`: when the alerts that raised the severity ended.
[[nodiscard]] std::optional<std::string> objection_to_clearing(const HealthReport& report,
                                                               const kube::Node& node,
                                                               Severity raised,
                                                               const HealthDemand& demand);

// Returns why the report is not enough to return `node` to service; nullopt if it is.
[[nodiscard]] std::optional<std::string> objection_to(const HealthReport& report,
                                                      const kube::Node& node,
                                                      const HealthDemand& demand);

}  // namespace gpuward::remediator
