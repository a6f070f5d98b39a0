// What the exporters report about the nodes, one small value for each: for the totals and the
// verdict of the fleet page, and for the page of a node. Here read from the Node objects; another
// source may fill the same. Pure.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "core/kube/objects.h"
#include "core/model/severity.h"
#include "remediator/model/remediation.h"
#include "remediator/records/cluster_view.h"

namespace gpuward::remediator {

// An exporter writes its condition at least every 5 minutes.
inline constexpr std::chrono::minutes kReportIsOldAfter{15};

struct NodeReport {
  Severity found = Severity::kNone;  // the worst finding
  bool is_heard = false;             // its exporter has reported lately
};

// By node name; a node without an entry is not heard.
using NodeReports = std::map<std::string, NodeReport, std::less<>>;

// As its exporter's labels and condition say.
[[nodiscard]] NodeReport report_on(const kube::Node& node, WallTime now);
// Of all nodes that have GPUs.
[[nodiscard]] NodeReports reports_on_nodes(const ClusterView& view, WallTime now);

// The report, and the alerts that still fired when the last Remediation was cancelled: they count
// until the exporter is heard. `last` may be null.
[[nodiscard]] Severity severity_of(const NodeReport& report, const Remediation* last);

// Why an unhealthy node has no open Remediation: "cancelled by alice 5m ago". `last` may be null.
[[nodiscard]] std::string why_not_open(const Remediation* last, WallTime now);

// Not of an earlier machine of the same name.
[[nodiscard]] bool is_about(const Remediation& remediation, const kube::Node& node);
// The latest Remediation of this node, open or closed; null if there is none.
[[nodiscard]] const Remediation* last_of_node(const ViewState& state, const kube::Node& node);

}  // namespace gpuward::remediator
