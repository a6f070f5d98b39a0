// The census for the budgets: the nodes that gpuward manages, with their place and health. The
// ClusterView builds it from its caches. Entries are keyed by node UID, because a new node with an
// old name is another node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/severity.h"
#include "remediator/model/place.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// An open alert of a node: a code or the alert's name, and since when gpuward knows it.
struct FleetAlert {
  std::string code;
  WallTime since;
  Severity severity = Severity::kNone;
};

struct FleetNode {
  std::string name;
  Place place;
  bool ready = false;                   // The condition Ready is True.
  bool schedulable = false;             // No user or program has cordoned the node.
  Severity severity = Severity::kNone;  // Severity of the node's open Remediation.
  std::vector<FleetAlert> alerts;       // Alerts of the node's open Remediation.
  bool tainted = false;                 // The node has gpuward's taint.
  // The open Remediation of the node waits to taint it, or is not decided yet.
  bool waits_for_taint = false;
  bool confirmed = false;  // More than one source reports this severity.

  // Returns whether the node takes work, or could take work.
  [[nodiscard]] bool healthy() const { return ready && schedulable && severity < Severity::kReset; }
};

struct Fleet {
  std::map<std::string, FleetNode, std::less<>> nodes;  // Nodes by UID.

  [[nodiscard]] const FleetNode* find(std::string_view uid) const;
};

// Returns whether the node has GPUs, by its labels and resources from device plugins, feature
// discovery, the GPU operators and the exporter. A node with a broken GPU still counts.
[[nodiscard]] bool is_gpu_node(const kube::Node& node);

// Returns the names of the node's GPU resources, sorted: "nvidia.com/gpu", ...
[[nodiscard]] std::vector<std::string> gpu_resources(const kube::Node& node);

// Returns the entry with the facts of the Node object. The caller adds the facts of the node's
// Remediation.
[[nodiscard]] FleetNode fleet_node(const kube::Node& node, const PlaceKeys& keys);

}  // namespace gpuward::remediator
