// Who leads, whether steps are allowed, the circuit breaker and the budgets, as text for people.
// Used by `gpuwardctl status` and by the page of the fleet. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/decide/budgets/budgets.h"

namespace gpuward::remediator {

// Each text has faults in capitals.
[[nodiscard]] std::string leader_text(const kube::Lease& lease, WallTime now);
[[nodiscard]] std::string steps_text(const Result<kube::ConfigMap>& stop_switch);
[[nodiscard]] std::string breaker_text(const Breaker& breaker);

// Returns the budget of the cluster, and the others that are in use.
[[nodiscard]] std::vector<BudgetUse> shown_budgets(const Ledger& ledger, const Fleet& fleet,
                                                   const BudgetLimits& limits, WallTime now);

// Returns whether a replica leads by this lease.
[[nodiscard]] bool is_held(const kube::Lease& lease, WallTime now);

}  // namespace gpuward::remediator
