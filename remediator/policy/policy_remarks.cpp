#include "remediator/policy/policy_remarks.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpuward::remediator {
namespace {

bool has_pairs(const std::vector<PlannedStep>& steps) {
  return std::ranges::find(steps, Step::kNcclPairs, &PlannedStep::step) != steps.end();
}

bool tests_pairs(const Policy& policy) {
  const auto is_one = [](const auto& list) { return has_pairs(list.second); };
  return std::ranges::any_of(policy.recovery, is_one) ||
         std::ranges::any_of(policy.pools, [&](const PoolPolicy& pool) {
           return std::ranges::any_of(pool.recovery, is_one);
         });
}

// Says when the share never lets two nodes be out at once; empty if it always does.
std::string one_at_a_time(const Share& share) {
  if (share.nodes > 1) return {};
  if (share.percent <= 0) return "one node at a time";
  const auto nodes = static_cast<long>(std::ceil(200 / share.percent));
  return "one node at a time if there are fewer than " + std::to_string(nodes) + " nodes";
}

void remark_on_pairs(const std::string& budget, const Share& share,
                     std::vector<std::string>& remarks) {
  const std::string allowed = one_at_a_time(share);
  if (allowed.empty()) return;
  remarks.push_back(budget + " allows " + allowed +
                    ": nccl-pairs needs two nodes out of service at once; otherwise it ends Held");
}

// Says when the share allows no node at all; empty if it always allows one.
std::string none_allowed(const Share& share) {
  if (share.nodes > 0 || share.percent >= 100) return {};
  if (share.percent <= 0) return "no node";
  const auto nodes = static_cast<long>(std::ceil(100 / share.percent));
  return "no node if there are fewer than " + std::to_string(nodes) + " nodes";
}

void remark_on_none(const std::string& budget, const Share& share, const std::string& what,
                    std::vector<std::string>& remarks) {
  const std::string allowed = none_allowed(share);
  if (!allowed.empty())
    remarks.push_back(budget + " allows " + allowed + ": " + what + " never begins there");
}

void remark_on_scope(const std::string& budget, const ScopeLimit& limit,
                     std::vector<std::string>& remarks) {
  const std::string what = "drain, gpu-reset, reboot or terminate";
  remark_on_none(budget, limit.at_once, what, remarks);
  for (const WindowLimit& window : limit.windows)
    remark_on_none(budget + ".windows", window.share, what, remarks);
}

// Remarks on budgets that allow no action.
void remark_on_budgets(const BudgetLimits& budgets, std::vector<std::string>& remarks) {
  remark_on_scope("budgets.cluster", budgets.cluster, remarks);
  remark_on_scope("budgets.pool", budgets.pool, remarks);
  remark_on_scope("budgets.zone", budgets.zone, remarks);
  for (const OwnPool& own : budgets.own_pools) {
    if (!own.limits) continue;
    const std::string section = "pools " + own.pool.name + ": budgets.";
    remark_on_scope(section + "pool", own.limits->disrupted, remarks);
    remark_on_none(section + "cordon", own.limits->cordoned, "cordon", remarks);
  }
  for (const LabelLimit& label : budgets.labels)
    remark_on_scope("budgets.labels " + label.label, label.limit, remarks);
  remark_on_none("budgets.taint", budgets.tainted, "taint", remarks);
  remark_on_none("budgets.cordon", budgets.cordoned, "cordon", remarks);
  for (const WindowLimit& window : budgets.terminations)
    remark_on_none("budgets.terminate", window.share, "terminate", remarks);
  if (budgets.min_healthy.percent >= 100)
    remarks.emplace_back(
        "budgets.min_healthy.percent is 100: no node of any pool is ever drained, reset, restarted "
        "or terminated");
  if (budgets.breaker.share == Share{})
    remarks.emplace_back("budgets.breaker is 0: the first Remediation opens the circuit breaker");
}

// How far a list of steps takes a node out of use; repairs come after all three.
Step farthest(const std::vector<PlannedStep>& steps) {
  Step farthest = Step::kTaint;
  for (const Step step : {Step::kCordon, Step::kDrain})
    if (std::ranges::find(steps, step, &PlannedStep::step) != steps.end()) farthest = step;
  return farthest;
}

// Remarks on worse evidence that takes a node less out of use than milder evidence does.
void remark_on_order(const Policy& policy, const std::string& pool,
                     std::vector<std::string>& remarks) {
  constexpr std::array kFromWorst = {Severity::kIsolate, Severity::kReboot, Severity::kReset};
  for (std::size_t i = 0; i + 1 < kFromWorst.size(); ++i) {
    const auto& worse = plan_of(policy, pool, kFromWorst[i]);
    const auto& milder = plan_of(policy, pool, kFromWorst[i + 1]);
    if (worse.empty() || milder.empty() || farthest(worse) >= farthest(milder)) continue;
    remarks.push_back("severity " + std::string(to_string(kFromWorst[i])) +
                      (pool.empty() ? "" : " of pool " + pool) + " ends at " +
                      std::string(to_string(farthest(worse))) + ", but the milder severity " +
                      std::string(to_string(kFromWorst[i + 1])) + " includes " +
                      std::string(to_string(farthest(milder))) +
                      ": a node with the more severe fault stays more in service");
  }
}

bool contradict(std::string_view a, std::string_view b) {
  const auto key = a.find('=');
  return key != std::string_view::npos && a != b && a.substr(0, key) == b.substr(0, b.find('=')) &&
         b.contains('=');
}

bool implies(const std::vector<std::string>& labels, std::string_view wanted) {
  return std::ranges::any_of(labels, [wanted](std::string_view label) {
    return label == wanted || label.substr(0, label.find('=')) == wanted;
  });
}

// Returns the pools that nodes with these labels may be in; "" for none.
std::vector<std::string> pools_of(const Policy& policy, const std::vector<std::string>& labels) {
  std::vector<std::string> pools;
  for (const PoolPolicy& pool : policy.pools) {
    const bool has_none = std::ranges::any_of(pool.labels, [&](std::string_view wanted) {
      return std::ranges::any_of(
          labels, [wanted](std::string_view label) { return contradict(wanted, label); });
    });
    if (has_none) continue;
    pools.push_back(pool.name);
    const bool has_all = std::ranges::all_of(
        pool.labels, [&](std::string_view wanted) { return implies(labels, wanted); });
    if (has_all) return pools;
  }
  pools.emplace_back();
  return pools;
}

// Remarks on a condition that may drain although its steps never do.
void remark_on_conditions(const Policy& policy, std::vector<std::string>& remarks) {
  for (const ConditionRule& rule : policy.conditions) {
    if (!rule.drains) continue;
    for (const std::string& pool : pools_of(policy, rule.labels)) {
      if (farthest(plan_of(policy, pool, rule.severity)) == Step::kDrain) continue;
      remarks.push_back(
          "conditions: " + rule.type + " has drain: true, but the steps of severity " +
          std::string(to_string(rule.severity)) + (pool.empty() ? "" : " of pool " + pool) +
          " have no drain: the condition drains no node");
    }
  }
}

// Two proofs are required, and without another source only Prometheus gives one.
void remark_on_proofs(const Policy& policy, std::vector<std::string>& remarks) {
  const SilentRules& silent = policy.silent;
  const MachineCommands& machines = policy.machines;
  const bool disrupts = silent.moves_pods || silent.reboots || silent.terminates;
  const bool is_proven =
      !machines.power_state.empty() || machines.aws.reboot || machines.aws.terminate;
  if (!silent.is_on || !disrupts || is_proven) return;
  remarks.emplace_back(
      "silent: without machines.aws or machines.power_state, only Prometheus can report that a "
      "machine is down, and one proof is not enough. gpuward never starts out-of-service, reboot "
      "or terminate for silent nodes");
}

}  // namespace

std::vector<std::string> remarks_on(const Policy& policy) {
  std::vector<std::string> remarks;
  const BudgetLimits& budgets = policy.budgets;
  for (const std::string& name : policy.old_names)
    remarks.push_back(name + ": the next release does not read the old name");
  if (is_breaker_off(budgets)) {
    remarks.emplace_back(
        "budgets.breaker.percent is 100: the circuit breaker never opens by itself, however many "
        "nodes fail at once");
  }
  remark_on_budgets(budgets, remarks);
  remark_on_order(policy, {}, remarks);
  for (const PoolPolicy& pool : policy.pools)
    if (!pool.steps.empty()) remark_on_order(policy, pool.name, remarks);
  remark_on_conditions(policy, remarks);
  remark_on_proofs(policy, remarks);
  if (!tests_pairs(policy)) return remarks;
  remark_on_pairs("budgets.cluster", budgets.cluster.at_once, remarks);
  remark_on_pairs("budgets.pool", budgets.pool.at_once, remarks);
  remark_on_pairs("budgets.zone", budgets.zone.at_once, remarks);
  for (const LabelLimit& label : budgets.labels)
    remark_on_pairs("budgets.labels " + label.label, label.limit.at_once, remarks);
  return remarks;
}

std::string remarks_text(const Policy& policy) {
  std::string text;
  for (const std::string& remark : remarks_on(policy)) text += "note: " + remark + "\n";
  return text;
}

}  // namespace gpuward::remediator
