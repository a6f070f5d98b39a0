#include "remediator/tell/texts/fleet_texts.h"

#include <chrono>
#include <utility>

#include "remediator/cluster/gates/switch_position.h"

namespace gpuward::remediator {

std::string leader_text(const kube::Lease& lease, WallTime now) {
  if (lease.holder.empty()) return "none: no steps are taken";
  if (!is_held(lease, now))
    return "none: no steps are taken; the last was " + lease.holder +
           ", which renewed its lease at " + lease.renew_time;
  return lease.holder;
}

std::string steps_text(const Result<kube::ConfigMap>& read) {
  if (permission_of({}, read)) return "allowed";
  if (!read) return "STOPPED: there is no ConfigMap " + std::string(kSwitchName);
  const auto why = read->meta.annotations.find(std::string(kStoppedAnnotation));
  return "STOPPED" + (why == read->meta.annotations.end() ? "" : " since " + why->second) +
         "; resume with: gpuwardctl start";
}

std::string breaker_text(const Breaker& breaker) {
  if (!breaker.open) return "closed";
  return "OPEN since " + to_rfc3339(breaker.since) + ": " + breaker.why +
         "; close with: gpuwardctl breaker close";
}

std::vector<BudgetUse> shown_budgets(const Ledger& ledger, const Fleet& fleet,
                                     const BudgetLimits& limits, WallTime now) {
  auto uses = budget_uses(ledger, fleet, limits, now);
  std::erase_if(
      uses, [](const BudgetUse& use) { return use.used == 0 && use.guard != "budget.cluster"; });
  return uses;
}

bool is_held(const kube::Lease& lease, WallTime now) {
  const auto renewed = parse_rfc3339(lease.renew_time);
  const bool is_over = renewed && now > *renewed + std::chrono::seconds(lease.duration_seconds);
  return !lease.holder.empty() && !is_over;
}

}  // namespace gpuward::remediator
