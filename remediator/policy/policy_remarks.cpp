#include "remediator/policy/policy_remarks.h"

#include <algorithm>
#include <cmath>

namespace gpuward::remediator {
namespace {

bool has_pairs(const std::vector<PlannedStep>& steps) {
  return std::ranges::find(steps, Step::kNcclPairs, &PlannedStep::step) != steps.end();
}

bool tests_pairs(const Policy& policy) {
  const auto is_one = [](const auto& list) { return has_pairs(list.second); };
  return std::ranges::any_of(policy.way_back, is_one) ||
         std::ranges::any_of(policy.pools, [&](const PoolPolicy& pool) {
           return std::ranges::any_of(pool.way_back, is_one);
         });
}

// Where no two nodes can be out at once, as the share says it; empty where they always can.
std::string one_at_a_time(const Share& share) {
  if (share.nodes > 1) return {};
  if (share.percent <= 0) return "one node at a time";
  const auto nodes = static_cast<long>(std::ceil(200 / share.percent));
  return "one node at a time where there are fewer than " + std::to_string(nodes);
}

void remark_on_pairs(const std::string& budget, const Share& share,
                     std::vector<std::string>& remarks) {
  const std::string allowed = one_at_a_time(share);
  if (allowed.empty()) return;
  remarks.push_back(budget + " allows " + allowed +
                    ": nccl-pairs needs two nodes that are out at once, and ends Held without");
}

}  // namespace

std::vector<std::string> remarks_on(const Policy& policy) {
  std::vector<std::string> remarks;
  const BudgetLimits& budgets = policy.budgets;
  if (is_breaker_off(budgets)) {
    remarks.emplace_back(
        "budgets.breaker.percent is 100: the circuit breaker never opens by itself, however many "
        "nodes fail at once");
  }
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
