// The census that budgets are measured against: the nodes that gpuward looks after, where they
// stand and how they do. Built by the ClusterView from its caches; plain values, by node UID,
// because a new node under an old name is another node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/severity.h"
#include "remediator/model/place.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// What is open about a node: a code or the name of an alert, and since when we know.
struct FleetAlert {
  std::string code;
  WallTime since;
  Severity severity = Severity::kNone;
};

struct FleetNode {
  std::string name;
  Place place;
  bool ready = false;                   // condition Ready is True
  bool schedulable = false;             // not cordoned, by whomever
  Severity severity = Severity::kNone;  // of its open Remediation
  std::vector<FleetAlert> alerts;       // of its open Remediation
  bool tainted = false;                 // by us
  bool waits_for_taint = false;         // its open Remediation does, or is not decided yet
  bool confirmed = false;               // more than one source says that it is that unhealthy

  // Takes work, or would.
  [[nodiscard]] bool healthy() const { return ready && schedulable && severity < Severity::kReset; }
};

struct Fleet {
  std::map<std::string, FleetNode, std::less<>> nodes;  // by UID

  [[nodiscard]] const FleetNode* find(std::string_view uid) const;
};

// Whether the node has GPUs, as its labels and its resources say: device plugins, feature
// discovery, the GPU operators, our exporter's own labels. A broken GPU does not make it another
// kind of node.
[[nodiscard]] bool is_gpu_node(const kube::Node& node);

// The names of its resources that are GPUs, sorted: "nvidia.com/gpu", ...
[[nodiscard]] std::vector<std::string> gpu_resources(const kube::Node& node);

// What the node itself says; what its Remediation says is the caller's.
[[nodiscard]] FleetNode fleet_node(const kube::Node& node, const PlaceKeys& keys);

}  // namespace gpuward::remediator
