// The place of a node, by which budgets count nodes: its pool, its zone, and other limited domains
// (rack, NVLink domain). Read from the node's labels; used by the ledger, the census and the
// budgets.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"

namespace gpuward::remediator {

// A pool of the nodes that have all these labels, each `key` or `key=value`.
struct LabelledPool {
  std::string name;  // Name of the pool; empty if PlaceKeys::pool names the pool of these nodes.
  std::vector<std::string> labels;

  friend bool operator==(const LabelledPool&, const LabelledPool&) = default;
};

[[nodiscard]] bool has_label(const kube::Labels& labels, std::string_view selector);
[[nodiscard]] bool has_all_labels(const kube::Labels& labels,
                                  const std::vector<std::string>& selectors);

// The labels that give the place of a node.
struct PlaceKeys {
  // The first entry that matches a node is the node's pool, before `pool`.
  std::vector<LabelledPool> own_pools;
  std::vector<std::string> pool = {
      "karpenter.sh/nodepool", "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool",
      "kubernetes.azure.com/agentpool", "node.kubernetes.io/instance-type"};
  std::string zone = "topology.kubernetes.io/zone";
  std::vector<std::string> domains;  // Labels of further domains; each domain has its own limit.

  friend bool operator==(const PlaceKeys&, const PlaceKeys&) = default;
};

struct Place {
  // "" for nodes without such a label; these nodes share one pool or zone.
  std::string pool, zone;
  // Domains by label. A node without the label is in no such domain, so a limit of one node per
  // rack does not apply to a cluster that labels no racks.
  std::map<std::string, std::string> domains;

  friend bool operator==(const Place&, const Place&) = default;
  friend auto operator<=>(const Place&, const Place&) = default;
};

[[nodiscard]] Place place_of(const kube::Labels& labels, const PlaceKeys& keys);

}  // namespace gpuward::remediator
