#include <algorithm>
#include <set>
#include <string>

#include "remediator/policy/policy_sections.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kLongestName = 63;  // it goes into the Remediation's status

void read_pool_mode(const YamlMap& map, std::optional<Mode> highest, PoolPolicy& pool) {
  map.read_word("mode", pool.mode, kModeWords, "never above the policy's");
  if (highest && pool.mode && *pool.mode > *highest) {
    map.reject("mode", "is above the policy's own: a pool can only go less far");
  }
}

// A list that all nodes share is read again where the pool drains otherwise.
void read_pool_steps(const YamlMap& map, const PoolDefaults& defaults, PoolPolicy& pool) {
  const YamlMap severities = map.map("severities", "only those that differ");
  const DrainSettings drain = read_drain_settings(
      map.map_like("drain", "drain", "of all drains of the pool"), defaults.drain);
  for (const Severity severity : {Severity::kIsolate, Severity::kReboot, Severity::kReset}) {
    const std::string_view key = to_string(severity);
    const bool has_own = severities.has(key);
    if (!has_own && !map.has("drain")) continue;
    auto& plan = pool.steps[severity];
    if (has_own || defaults.severities.has(key)) {
      plan = read_plan(has_own ? severities : defaults.severities, key, drain,
                       "the steps at this severity");
    } else {
      plan = default_plans(defaults.means, drain).at(severity);
    }
    for (PlannedStep& step : plan) step.pool = pool.name;
  }
  pool.way_back = read_way_back(map.map("way_back", "likewise"));
  for (auto& [severity, list] : pool.way_back) {
    for (PlannedStep& step : list) step.pool = pool.name;
  }
}

}  // namespace

std::vector<PoolPolicy> read_pools(const YamlMap& root, const PoolDefaults& defaults) {
  std::vector<PoolPolicy> pools;
  std::set<std::string> seen;
  for (const YamlMap& map : root.maps(
           "pools",
           "other plans for the nodes with some labels; the first pool that matches counts")) {
    PoolPolicy& pool = pools.emplace_back();
    map.require("name", pool.name, "at most 63 characters");
    if (pool.name.size() > kLongestName) map.reject("name", "is longer than 63 characters");
    if (!seen.insert(pool.name).second) map.reject("name", "is the name of two pools");
    read_node_labels(map, pool.labels, "of its nodes, all of them: `key=value` or `key`; required");
    if (pool.labels.empty()) map.reject("labels", "must name labels of its nodes");
    read_pool_mode(map, defaults.highest, pool);
    read_pool_steps(map, defaults, pool);
  }
  return pools;
}

}  // namespace gpuward::remediator
