// The YAML of the budgets, with its defaults. Of `nodes` and `percent` the larger counts; where one
// of them is given, the other is 0 unless it is given too. `percent` is of the nodes in the scope
// and rounded down (min_healthy: up).
//
//   budgets:
//     cluster: {nodes: 1, percent: 5}    # drained, reset, rebooted or terminated at once
//     pool: {nodes: 1, percent: 10}
//     zone: {nodes: 1, percent: 10}
//     labels:                            # the same for each value of a label
//       - {label: topology.kubernetes.io/rack, nodes: 1}
//       - {label: nvidia.com/gpu.clique, nodes: 1}
//     taint: {nodes: 2, percent: 20}     # of a pool and of the cluster, tainted or worse
//     cordon: {nodes: 1, percent: 10}    # of a pool, cordoned or worse
//     terminate:                         # in the cluster, within each of the windows
//       - {window: 1h, nodes: 2}
//       - {window: 24h, nodes: 5}
//     min_healthy: {nodes: 0, percent: 0}              # of a pool, must remain
//     storm: {nodes: 3, percent: 10, window: 10m}      # from so many on, by the same code
//     breaker: {nodes: 5, percent: 10, window: 10m}    # more new Remediations open it; 100: none
//     orphan_hold: 24h                   # that the slot of a deleted Remediation binds
//     pool_labels: [karpenter.sh/nodepool, eks.amazonaws.com/nodegroup,
//                   cloud.google.com/gke-nodepool, kubernetes.azure.com/agentpool,
//                   node.kubernetes.io/instance-type]
//     zone_label: topology.kubernetes.io/zone
//
// cluster, pool, zone and each label may also limit what is begun within windows (none by default):
//
//     cluster:
//       nodes: 1
//       percent: 5
//       windows: [{window: 24h, percent: 20}]
#include "remediator/policy/budget_file.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

namespace gpuward::remediator {
namespace {

constexpr std::int64_t kMostNodes = 100'000;
constexpr std::int64_t kStormFromAtLeast = 2;

void read_share(const YamlMap& map, Share& share) {
  if (!map.has("nodes") && !map.has("percent")) return;
  std::int64_t nodes = 0;
  share.percent = 0;
  map.read("nodes", nodes, 0, kMostNodes);
  map.read("percent", share.percent, 0, 100);
  share.nodes = static_cast<int>(nodes);
}

void read_window(const YamlMap& map, WindowLimit& limit) {
  read_share(map, limit.share);
  map.read("window", limit.window, std::chrono::minutes(1), kLongestWindow);
}

std::vector<WindowLimit> read_windows(const YamlMap& map, std::string_view key) {
  std::vector<WindowLimit> limits;
  for (const YamlMap& entry : map.maps(key)) {
    WindowLimit& limit = limits.emplace_back();
    read_window(entry, limit);
    if (!entry.has("window")) entry.reject("", "needs a window");
    if (!entry.has("nodes") && !entry.has("percent")) entry.reject("", "needs nodes or percent");
  }
  return limits;
}

void read_scope(const YamlMap& map, ScopeLimit& limit) {
  read_share(map, limit.at_once);
  if (map.has("windows")) limit.windows = read_windows(map, "windows");
}

void read_labels(const YamlMap& budgets, std::vector<LabelLimit>& limits) {
  if (!budgets.has("labels")) return;
  limits.clear();
  std::set<std::string> seen;
  for (const YamlMap& entry : budgets.maps("labels")) {
    LabelLimit& limit = limits.emplace_back();
    entry.require("label", limit.label);
    read_scope(entry, limit.limit);
    if (!entry.has("nodes") && !entry.has("percent")) entry.reject("", "needs nodes or percent");
    if (!seen.insert(limit.label).second) entry.reject("label", "is limited twice");
  }
}

void read_terminations(const YamlMap& budgets, std::vector<WindowLimit>& limits) {
  if (!budgets.has("terminate")) return;
  limits = read_windows(budgets, "terminate");
  if (limits.empty()) budgets.reject("terminate", "needs at least one window");
}

void read_storm(const YamlMap& storm, WindowLimit& limit) {
  read_window(storm, limit);
  if (limit.share.nodes < kStormFromAtLeast)
    storm.reject("nodes", "a storm is of at least 2 nodes");
}

void read_keys(const YamlMap& budgets, PlaceKeys& keys) {
  budgets.read("pool_labels", keys.pool);
  budgets.read("zone_label", keys.zone);
  if (std::ranges::any_of(keys.pool, &std::string::empty))
    budgets.reject("pool_labels", "each entry must be the name of a label");
}

}  // namespace

BudgetLimits read_budgets(const YamlMap& budgets) {
  BudgetLimits limits;
  read_scope(budgets.map("cluster"), limits.cluster);
  read_scope(budgets.map("pool"), limits.pool);
  read_scope(budgets.map("zone"), limits.zone);
  read_labels(budgets, limits.labels);
  read_share(budgets.map("taint"), limits.tainted);
  read_share(budgets.map("cordon"), limits.cordoned);
  read_terminations(budgets, limits.terminations);
  read_share(budgets.map("min_healthy"), limits.min_healthy);
  read_storm(budgets.map("storm"), limits.storm);
  read_window(budgets.map("breaker"), limits.breaker);
  budgets.read("orphan_hold", limits.orphan_hold, std::chrono::minutes(1), kLongestWindow);
  read_keys(budgets, limits.keys);
  return limits;
}

}  // namespace gpuward::remediator
