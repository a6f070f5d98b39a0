// The YAML of the pools; the first whose labels a node has counts for it, and no other:
//
//   pools:
//     - name: a100
//       labels: [pool=a100, team]      # all of them: `key=value`, or `key` of whatever value
//       mode: cordon                   # never above the policy's
//       drain: {deadline: 4h}          # of all its drains, whosever the list
//       severities:                    # only those that differ: isolate, reboot, reset
//         reset: [taint, cordon]
//       way_back: {isolate: []}        # likewise: policy/way_back_file.cpp
#include "remediator/policy/pools_file.h"

#include <algorithm>
#include <set>
#include <string>

#include "remediator/policy/way_back_file.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kLongestName = 63;  // it goes into the Remediation's status

void read_pool_labels(const YamlMap& map, PoolPolicy& pool) {
  map.read("labels", pool.labels);
  const bool has_bad = std::ranges::any_of(
      pool.labels, [](const std::string& label) { return label.empty() || label.front() == '='; });
  if (pool.labels.empty() || has_bad) {
    map.reject("labels", "must name labels of its nodes, each `key` or `key=value`");
  }
}

void read_pool_mode(const YamlMap& map, std::optional<Mode> highest, PoolPolicy& pool) {
  if (!map.has("mode")) return;
  std::string text;
  map.read("mode", text);
  pool.mode = parse_mode(text);
  if (!pool.mode) {
    map.reject("mode", "must be one of observe, taint, cordon, full");
  } else if (highest && *pool.mode > *highest) {
    map.reject("mode", "is above the policy's own: a pool can only go less far");
  }
}

// A list that all nodes share is read again where the pool drains otherwise.
void read_pool_steps(const YamlMap& map, const PoolDefaults& defaults, PoolPolicy& pool) {
  const YamlMap severities = map.map("severities");
  const DrainSettings drain = read_drain_settings(map.map("drain"), defaults.drain);
  for (const Severity severity : {Severity::kIsolate, Severity::kReboot, Severity::kReset}) {
    const std::string_view key = to_string(severity);
    const bool has_own = severities.has(key);
    if (!has_own && !map.has("drain")) continue;
    auto& plan = pool.steps[severity];
    if (has_own || defaults.severities.has(key)) {
      plan = read_plan(has_own ? severities : defaults.severities, key, drain);
    } else {
      plan = default_plans(defaults.means, drain).at(severity);
    }
    for (PlannedStep& step : plan) step.pool = pool.name;
  }
  pool.way_back = read_way_back(map.map("way_back"));
  for (auto& [severity, list] : pool.way_back) {
    for (PlannedStep& step : list) step.pool = pool.name;
  }
}

}  // namespace

std::vector<PoolPolicy> read_pools(const YamlMap& root, const PoolDefaults& defaults) {
  std::vector<PoolPolicy> pools;
  std::set<std::string> seen;
  for (const YamlMap& map : root.maps("pools")) {
    PoolPolicy& pool = pools.emplace_back();
    map.require("name", pool.name);
    if (pool.name.size() > kLongestName) map.reject("name", "is longer than 63 characters");
    if (!seen.insert(pool.name).second) map.reject("name", "is the name of two pools");
    read_pool_labels(map, pool);
    read_pool_mode(map, defaults.highest, pool);
    read_pool_steps(map, defaults, pool);
  }
  return pools;
}

}  // namespace gpuward::remediator
