// The circuit breaker of the budgets. Too many new Remediations in a short time mean that the cause
// is not in the nodes. The breaker then opens by itself, and only an operator closes it. It is part
// of the ledger, so it stays open over restarts. While it is open, only taints get slots. gpuward
// still releases slots, uncordons and removes taints. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "core/model/result.h"
#include "remediator/decide/budgets/ledger.h"
#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {

// Counts one new Remediation of severity reset or worse. Opens the breaker if more nodes than
// limits.breaker allows got a new Remediation within the window. `nodes` is the size of the census.
// The caller reports a Remediation when it is created, and after a restart all open Remediations. A
// known Remediation, or one older than the window, changes nothing.
[[nodiscard]] Ledger with_new_remediation(Ledger ledger, const Arrival& arrival,
                                          const BudgetLimits& limits, std::size_t nodes,
                                          WallTime now);

// Opens the breaker on an operator's request or after the ledger was lost. An open breaker stays
// unchanged.
[[nodiscard]] Ledger open_breaker(Ledger ledger, std::string why, WallTime now);

// Closes the breaker. The arrivals so far no longer count, because the operator has seen them. A
// closed breaker stays unchanged. Returns kInvalid if `by` is empty.
[[nodiscard]] Result<Ledger> close_breaker(Ledger ledger, std::string by, WallTime now);

}  // namespace gpuward::remediator
