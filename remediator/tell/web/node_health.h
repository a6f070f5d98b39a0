// The health of the nodes as their exporters report it, a small value for each: for the totals and
// the verdict of the fleet page, and for the page of a node. It is read from the Node objects here;
// another source may fill the same values. Pure.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "core/kube/objects.h"
#include "core/model/severity.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// An exporter writes its condition at least every 5 minutes.
inline constexpr std::chrono::minutes kOldAfter{15};

struct NodeHealth {
  Severity found = Severity::kNone;  // the worst finding
  bool is_heard = false;             // its exporter has reported lately
};

// By node name; a node without an entry does not report.
using NodeHealthByName = std::map<std::string, NodeHealth, std::less<>>;

// Returns the health in the labels and the condition of its exporter.
[[nodiscard]] NodeHealth health_of(const kube::Node& node, WallTime now);
// Returns the same for all nodes with GPUs.
[[nodiscard]] NodeHealthByName health_of_nodes(const ClusterView& view, WallTime now);

// Returns the worst finding; if the exporter does not report, also that of alerts that still fired
// when the last Remediation was cancelled. `last` may be null.
[[nodiscard]] Severity severity_of(const NodeHealth& health, const Remediation* last);

// Returns why an unhealthy node has no open Remediation: "cancelled by alice 5m ago". `last` may be
// null.
[[nodiscard]] std::string why_not_open(const Remediation* last, WallTime now);

// Returns false for a Remediation of an earlier machine of the same name.
[[nodiscard]] bool is_about(const Remediation& remediation, const kube::Node& node);
// Returns the latest Remediation of this node, open or closed; null if there is none.
[[nodiscard]] const Remediation* last_of_node(const ViewState& state, const kube::Node& node);

}  // namespace gpuward::remediator
