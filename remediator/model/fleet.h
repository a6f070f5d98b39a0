// The census that budgets are measured against: the nodes that gpuward looks after, their place and
// their health. The ClusterView builds it from its caches. Plain values, by node UID, because a new
// node with an old name is another node.
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
  bool ready = false;                   // condition Ready is True
  bool schedulable = false;             // not cordoned by anyone
  Severity severity = Severity::kNone;  // of its open Remediation
  std::vector<FleetAlert> alerts;       // of its open Remediation
  bool tainted = false;                 // by gpuward
  bool waits_for_taint = false;         // its open Remediation waits to taint it, or is not decided
                                        // yet
  bool confirmed = false;               // more than one source reports this severity

  // Takes work, or would take it.
  [[nodiscard]] bool healthy() const { return ready && schedulable && severity < Severity::kReset; }
};

struct Fleet {
  std::map<std::string, FleetNode, std::less<>> nodes;  // by UID

  [[nodiscard]] const FleetNode* find(std::string_view uid) const;
};

// Whether the node has GPUs, by its labels and its resources: device plugins, feature discovery,
// the GPU operators, the exporter's own labels. A broken GPU does not make it another kind of node.
[[nodiscard]] bool is_gpu_node(const kube::Node& node);

// Returns the names of its GPU resources, sorted: "nvidia.com/gpu", ...
[[nodiscard]] std::vector<std::string> gpu_resources(const kube::Node& node);

// Fills in only what the Node object says; the caller adds what its Remediation says.
[[nodiscard]] FleetNode fleet_node(const kube::Node& node, const PlaceKeys& keys);

}  // namespace gpuward::remediator
