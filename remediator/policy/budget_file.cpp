#include <algorithm>
#include <set>
#include <string>

#include "remediator/policy/policy_sections.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;

constexpr int kMostNodes = 100'000;
constexpr int kStormFromAtLeast = 2;

std::vector<WindowLimit> read_windows(const YamlMap& map, std::string_view key,
                                      std::string_view about) {
  std::vector<WindowLimit> limits;
  for (const YamlMap& entry : map.maps(key, about)) {
    WindowLimit& limit = limits.emplace_back();
    entry.require("window", limit.window, minutes(1), kLongestWindow, "length of the window");
    read_share(entry, limit.share);
    if (!entry.has("nodes") && !entry.has("percent")) entry.reject("", "needs nodes or percent");
  }
  return limits;
}

void read_scope(const YamlMap& map, ScopeLimit& limit) {
  read_share(map, limit.at_once);
  if (map.has("windows"))
    limit.windows = read_windows(
        map, "windows", "further limits on the nodes that may be disrupted within a window");
}

void read_labels(const YamlMap& budgets, std::vector<LabelLimit>& limits) {
  if (!budgets.has("labels")) return;
  limits.clear();
  std::set<std::string> seen;
  for (const YamlMap& entry : budgets.maps(
           "labels",
           "the same limits for nodes that share a value of a label; default: 1 node per rack "
           "(`topology.kubernetes.io/rack`) and 1 per clique (`nvidia.com/gpu.clique`)")) {
    LabelLimit& limit = limits.emplace_back();
    entry.require("label", limit.label, "the name of the label");
    read_scope(entry, limit.limit);
    if (!entry.has("nodes") && !entry.has("percent")) entry.reject("", "needs nodes or percent");
    if (!seen.insert(limit.label).second) entry.reject("label", "has two entries: keep one");
  }
}

void read_terminations(const YamlMap& budgets, std::vector<WindowLimit>& limits) {
  if (!budgets.has("terminate")) return;
  limits = read_windows(budgets, "terminate",
                        "machines terminated in the cluster; default: 2 in 1h and 5 in 24h");
  if (limits.empty()) budgets.reject("terminate", "needs at least one window");
}

void read_alarm(const YamlMap& map, WindowLimit& limit) {
  read_share(map, limit.share);
  map.read("window", limit.window, minutes(1), kLongestWindow, "length of the window");
}

void read_keys(const YamlMap& budgets, PlaceKeys& keys) {
  budgets.read("pool_labels", keys.pool,
               "label keys: the value of the first one that a node has is the node's pool");
  budgets.read("zone_label", keys.zone, "the label that names the zone");
  if (std::ranges::any_of(keys.pool, &std::string::empty))
    budgets.reject("pool_labels", "each entry must be the name of a label");
}

}  // namespace

void read_share(const YamlMap& map, Share& share) {
  const bool has_nodes = map.has("nodes");
  const bool has_percent = map.has("percent");
  map.read("nodes", share.nodes, 0, kMostNodes, "a number of nodes");
  map.read("percent", share.percent, 0, 100, "a percentage of the nodes");
  if (has_percent && !has_nodes) share.nodes = 0;
  if (has_nodes && !has_percent) share.percent = 0;
}

PoolLimits read_pool_limits(const YamlMap& budgets, PoolLimits limits) {
  read_scope(
      budgets.map("pool", "nodes drained, reset, rebooted or terminated at once in one pool"),
      limits.disrupted);
  read_share(
      budgets.map("cordon",
                  "nodes of a pool that gpuward has cordoned, including those that it disrupts"),
      limits.cordoned);
  read_share(
      budgets.map("min_healthy", "healthy nodes that each pool must keep; `percent` is rounded up"),
      limits.min_healthy);
  return limits;
}

BudgetLimits read_budgets(const YamlMap& budgets) {
  BudgetLimits limits;
  read_scope(
      budgets.map("cluster", "nodes drained, reset, rebooted or terminated at once in the cluster"),
      limits.cluster);
  const PoolLimits in_pools = read_pool_limits(budgets, limits.in_pool(""));
  limits.pool = in_pools.disrupted;
  limits.cordoned = in_pools.cordoned;
  limits.min_healthy = in_pools.min_healthy;
  read_scope(
      budgets.map("zone", "nodes drained, reset, rebooted or terminated at once in one zone"),
      limits.zone);
  read_labels(budgets, limits.labels);
  read_share(
      budgets.map("taint",
                  "nodes that gpuward has tainted, in each pool and in the cluster, including "
                  "those that it cordons or disrupts"),
      limits.tainted);
  read_terminations(budgets, limits.terminations);
  const YamlMap storm = budgets.map(
      "storm", "an alert storm: the same code on this many nodes, at least 2, within the window");
  read_alarm(storm, limits.storm);
  if (limits.storm.share.nodes < kStormFromAtLeast) storm.reject("nodes", "must be at least 2");
  read_alarm(budgets.map(
                 "breaker",
                 "the circuit breaker opens when more Remediations than this are opened within the "
                 "window; at 100 percent it never opens by itself, and `gpuwardctl policy check` "
                 "warns about it"),
             limits.breaker);
  budgets.read("orphan_hold", limits.orphan_hold, minutes(1), kLongestWindow,
               "how long a deleted Remediation keeps its slot");
  read_keys(budgets, limits.keys);
  return limits;
}

}  // namespace gpuward::remediator
