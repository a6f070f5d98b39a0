#include "remediator/safety/health_report.h"

namespace gpuward::remediator {

std::optional<std::string> objection_to(const HealthReport& report, const kube::Node& node,
                                        const HealthDemand& demand) {
  if (node.boot_id.empty()) return "the node does not say which boot it is in";
  if (report.boot_id != node.boot_id) return "the report is about another boot of the node";
  if (report.measured_at <= demand.after) return "the report is not newer than the alert's end";
  if (demand.now - report.measured_at > demand.max_age) return "the report is too old";
  if (report.measured_at - demand.now > demand.max_age) return "the report is from the future";
  if (!report.sees_kernel_log) return "the exporter cannot read the node's kernel log";
  if (report.severity >= Severity::kReset) {
    return "the report still says severity " + std::string(to_string(report.severity));
  }
  return std::nullopt;
}

}  // namespace gpuward::remediator
