#include <algorithm>
#include <set>
#include <string>

#include "remediator/model/gpu_vendor.h"
#include "remediator/policy/policy_sections.h"
#include "remediator/policy/reset_rules.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kLongestName = 63;  // it goes into the Remediation's status

void read_pool_mode(const YamlMap& map, std::optional<Mode> highest, PoolPolicy& pool) {
  map.read_word("mode", pool.mode, kModeWords, "mode of the pool; never above the policy's");
  if (highest && pool.mode && *pool.mode > *highest) {
    map.reject("mode", "is above the policy's own: a pool can only be more restrictive");
  }
}

// A list shared by all nodes is read again if the pool has other drain settings.
void read_pool_steps(const YamlMap& map, const PoolDefaults& defaults, PoolPolicy& pool) {
  const YamlMap severities =
      map.map("severities", "steps of the severities that differ from the policy's");
  const DrainSettings drain = read_drain_settings(
      map.map_like("drain", "drain", "defaults for all drains of the pool"), defaults.drain);
  for (const Severity severity : {Severity::kIsolate, Severity::kReboot, Severity::kReset}) {
    const std::string_view key = to_string(severity);
    const bool has_own = severities.has(key);
    if (!has_own && !map.has("drain")) continue;
    auto& plan = pool.steps[severity];
    if (has_own || defaults.severities.has(key)) {
      plan = read_plan(has_own ? severities : defaults.severities, key, drain,
                       "the steps for a finding of this severity");
    } else {
      plan = default_plans(defaults.means, drain).at(severity);
    }
    for (PlannedStep& step : plan) step.pool = pool.name;
  }
  map.read_renamed("way_back", "recovery", {.type = "mapping", .like = "recovery"});
  pool.recovery =
      read_recovery(map.map("recovery", "`recovery` steps that differ from the policy's"));
  for (auto& [severity, list] : pool.recovery) {
    for (PlannedStep& step : list) step.pool = pool.name;
  }
}

void read_pool_budgets(const YamlMap& map, const PoolDefaults& defaults, PoolPolicy& pool) {
  const PoolLimits limits =
      read_pool_limits(map.map("budgets",
                               "budgets of the pool: its nodes are counted separately; the budgets "
                               "of the cluster, the zone and labels still apply"),
                       defaults.budgets.in_pool(""));
  if (map.has("budgets")) pool.budgets = limits;
}

// Returns the GPU vendor of all nodes of the pool, by its labels; errors are those of gpu_vendor().
Result<Vendor> vendor_of(const PoolPolicy& pool) {
  kube::Node node;
  for (const std::string& label : pool.labels) {
    const auto sign = std::min(label.find('='), label.size());
    node.meta.labels[label.substr(0, sign)] = label.substr(std::min(sign + 1, label.size()));
  }
  return gpu_vendor(node);
}

std::optional<std::string> objection_to_plan(const std::vector<PlannedStep>& plan,
                                             const Result<Vendor>& vendor, const JobsPolicy& jobs) {
  const auto reset = std::ranges::find(plan, Step::kGpuReset, &PlannedStep::step);
  if (reset == plan.end()) return std::nullopt;
  if (vendor) {
    auto why = objection_to_reset(reset->job, jobs, *vendor);
    if (why) *why = "select nodes with " + std::string(name_of(*vendor)) + " GPUs, but " + *why;
    return why;
  }
  if (vendor.error().kind == ErrorKind::kNotFound) return std::nullopt;  // each node shows it
  return "select nodes that gpu-reset cannot reset: " + vendor.error().message;
}

// Rejects a reset that on every node of the pool would end with an operator.
void refuse_wrong_resets(const YamlMap& map, const PoolDefaults& defaults, const PoolPolicy& pool) {
  const auto vendor = vendor_of(pool);
  for (const auto& [severity, shared] : defaults.steps) {
    const auto own = pool.steps.find(severity);
    const auto why =
        objection_to_plan(own == pool.steps.end() ? shared : own->second, vendor, defaults.jobs);
    if (why) return map.reject("labels", *why);
  }
}

}  // namespace

std::vector<PoolPolicy> read_pools(const YamlMap& root, const PoolDefaults& defaults) {
  std::vector<PoolPolicy> pools;
  std::set<std::string> seen;
  for (const YamlMap& map :
       root.maps("pools", "other rules for nodes with certain labels; the first match applies")) {
    PoolPolicy& pool = pools.emplace_back();
    map.require("name", pool.name, "name of the pool, at most 63 characters");
    if (pool.name.size() > kLongestName) map.reject("name", "is longer than 63 characters");
    if (!seen.insert(pool.name).second) map.reject("name", "is the name of two pools");
    read_node_labels(
        map, pool.labels,
        "labels that its nodes must have, all of them: `key=value` or `key`; required");
    if (pool.labels.empty())
      map.reject("labels", "must list the labels that select the pool's nodes");
    read_pool_mode(map, defaults.highest, pool);
    read_pool_steps(map, defaults, pool);
    read_pool_budgets(map, defaults, pool);
    refuse_wrong_resets(map, defaults, pool);
  }
  return pools;
}

}  // namespace gpuward::remediator
