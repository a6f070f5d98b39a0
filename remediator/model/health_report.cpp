#include "remediator/model/health_report.h"

#include <algorithm>

namespace gpuward::remediator {
namespace {

// Says why the report does not describe the present state of the node; null if it does.
const char* staleness_of(const HealthReport& report, const kube::Node& node,
                         const HealthDemand& demand) {
  if (node.boot_id.empty()) return "the node reports no boot ID";
  if (report.boot_id != node.boot_id) return "the report is about another boot of the node";
  if (demand.now - report.measured_at > demand.max_age) return "the report is too old";
  if (report.measured_at - demand.now > demand.max_age) return "the report is from the future";
  return nullptr;
}

}  // namespace

HealthReport with_drill(HealthReport report) {
  report.severity = std::max(report.severity, report.drill_severity);
  report.confirmed_severity = std::max(report.confirmed_severity, report.drill_severity);
  return report;
}

std::string why_no_report(const Error& error) {
  const bool is_unreachable = error.kind == ErrorKind::kUnavailable ||
                              error.kind == ErrorKind::kTimeout ||
                              error.kind == ErrorKind::kOverloaded;
  return is_unreachable ? "Prometheus does not answer" : error.message;
}

std::optional<std::string> objection_to_disruption(const HealthReport& report,
                                                   const kube::Node& node, Severity wanted,
                                                   const HealthDemand& demand) {
  if (const char* why = staleness_of(report, node, demand)) return why;
  const std::string needed = ", and the step needs " + std::string(to_string(wanted));
  if (report.severity < wanted) {
    return "the report has severity " + std::string(to_string(report.severity)) + needed;
  }
  if (report.confirmed_severity < wanted) {
    return "only a line of the kernel log shows severity " +
           std::string(to_string(report.severity)) + "; the rest of the report shows severity " +
           std::string(to_string(report.confirmed_severity)) + needed;
  }
  return std::nullopt;
}

std::optional<std::string> objection_to_the_end(const HealthReport& report, Severity wanted,
                                                std::chrono::system_clock::time_point now) {
  if (report.diagnostics_severity >= wanted) return std::nullopt;
  for (const auto& [severity, at] : report.observed_at) {
    const bool is_recent = now - at <= kStateLasts && at - now <= kStateLasts;
    if (severity >= wanted && is_recent) return std::nullopt;
  }
  return "no check has observed severity " + std::string(to_string(wanted)) + " in the last " +
         std::to_string(kStateLasts.count()) +
         " s, and no diagnostic has failed in this boot: latched findings justify at most a reboot";
}

std::optional<std::string> objection_to_clearing(const HealthReport& report, const kube::Node& node,
                                                 Severity raised, const HealthDemand& demand) {
  if (const char* why = staleness_of(report, node, demand)) return why;
  if (report.measured_at <= demand.after) return "the report is not newer than the alert's end";
  if (!report.sees_kernel_log) return "the exporter cannot read the node's kernel log";
  if (report.severity >= raised) {
    return "the report still has severity " + std::string(to_string(report.severity));
  }
  if (!report.is_settled)
    return "the exporter cannot judge every finding this soon after its start or the boot";
  return std::nullopt;
}

std::optional<std::string> objection_to(const HealthReport& report, const kube::Node& node,
                                        const HealthDemand& demand) {
  return objection_to_clearing(report, node, Severity::kReset, demand);
}

}  // namespace gpuward::remediator
