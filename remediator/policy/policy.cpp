#include "remediator/policy/policy.h"

#include <algorithm>
#include <array>

namespace gpuward::remediator {
namespace {

constexpr std::array<std::string_view, 2> kControlPlaneLabels = {
    "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"};

using Lists = std::map<Severity, std::vector<PlannedStep>>;

// Null: the policy has no such pool.
const Lists* own_lists(const Policy& policy, std::string_view pool, Lists PoolPolicy::* lists) {
  const auto named = std::ranges::find(policy.pools, pool, &PoolPolicy::name);
  return named == policy.pools.end() ? nullptr : &((*named).*lists);
}

const std::vector<PlannedStep>& list_of(const Lists& common, const Lists* own, Severity severity) {
  static const std::vector<PlannedStep> kNothing;
  for (const Lists* lists : {own, &common}) {
    if (lists == nullptr) continue;
    const auto found = lists->find(severity);
    if (found != lists->end()) return found->second;
  }
  return kNothing;
}

}  // namespace

std::optional<std::string> exclusion_of(const Policy& policy, const kube::Node& node) {
  const auto managed = node.meta.labels.find(std::string(kManagedLabel));
  if (managed != node.meta.labels.end() && managed->second == "false") {
    return "the node is labelled gpuward.dev/managed=false";
  }
  if (policy.excluded.nodes.contains(node.meta.name)) return "excluded.nodes names the node";
  for (const std::string& selector : policy.excluded.labels) {
    if (has_label(node.meta.labels, selector))
      return "excluded.labels matches the node: " + selector;
  }
  if (!policy.excluded.control_plane) return std::nullopt;
  for (const std::string_view label : kControlPlaneLabels) {
    if (has_label(node.meta.labels, label)) return "the node belongs to the control plane";
  }
  return std::nullopt;
}

std::shared_ptr<const Policy> policy_for(std::shared_ptr<const Policy> policy,
                                         const kube::Labels& labels) {
  const auto pool = std::ranges::find_if(
      policy->pools, [&](const PoolPolicy& one) { return has_all_labels(labels, one.labels); });
  if (pool == policy->pools.end()) return policy;
  auto own = std::make_shared<Policy>(*policy);
  own->pool = pool->name;
  own->mode = std::min(policy->mode, pool->mode.value_or(policy->mode));
  return own;
}

const std::vector<PlannedStep>& plan_of(const Policy& policy, std::string_view pool,
                                        Severity severity) {
  return list_of(policy.steps, own_lists(policy, pool, &PoolPolicy::steps), severity);
}

const std::vector<PlannedStep>& recovery_of(const Policy& policy, std::string_view pool,
                                            Severity severity) {
  return list_of(policy.recovery, own_lists(policy, pool, &PoolPolicy::recovery), severity);
}

std::vector<PlannedStep> steps_for(const Policy& policy, Severity severity) {
  const auto& plan = plan_of(policy, policy.pool, severity);
  const auto end = std::ranges::find_if(
      plan, [&](const PlannedStep& step) { return !allows(policy.mode, step.step); });
  return {plan.begin(), end};
}

bool needs_approvals(const Policy& policy) {
  const auto waits = [&](const std::vector<PlannedStep>& steps) {
    return std::ranges::any_of(steps, [&](const PlannedStep& step) {
      return step.before.approval && allows(policy.mode, step.step);
    });
  };
  const auto any_waits = [&](const auto& lists) {
    return std::ranges::any_of(lists, [&](const auto& list) { return waits(list.second); });
  };
  const bool ends_silent =
      policy.silent.is_on && policy.silent.terminates && allows(policy.mode, Step::kTerminate);
  return ends_silent || any_waits(policy.steps) || any_waits(policy.recovery) ||
         std::ranges::any_of(policy.maintenance,
                             [&](const auto& rule) { return waits(rule.second.steps); }) ||
         std::ranges::any_of(policy.pools, [&](const PoolPolicy& pool) {
           return any_waits(pool.steps) || any_waits(pool.recovery);
         });
}

std::optional<Severity> worse_with_steps(const Policy& policy, Severity severity,
                                         Severity at_least) {
  if (severity < Severity::kReset) return std::nullopt;  // an event of the cloud is not a fault
  for (const Severity worse : {Severity::kReboot, Severity::kIsolate}) {
    if (worse > severity && worse >= at_least && !steps_for(policy, worse).empty()) return worse;
  }
  return std::nullopt;
}

}  // namespace gpuward::remediator
