// The circuit breaker: too many new Remediations in a short time mean that something other than the
// nodes is broken. It opens by itself, stays open over restarts (it is part of the ledger), and
// only an operator closes it. While it is open, only taints get slots; releasing slots, uncordoning
// and untainting need none and continue. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "core/model/result.h"
#include "remediator/budgets/ledger.h"
#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {

// Counts one new Remediation, of severity reset or worse. The caller reports it once it is created
// and, after a restart, reports all open ones again: a known one, or one older than the window,
// changes nothing. `nodes` is the size of the census. Opens the breaker if more nodes than
// limits.breaker allows got a new Remediation within the window.
[[nodiscard]] Ledger with_new_remediation(Ledger ledger, const Arrival& arrival,
                                          const BudgetLimits& limits, std::size_t nodes,
                                          WallTime now);

// Opens it on request or because the ledger was lost. An open breaker stays as it is.
[[nodiscard]] Ledger open_breaker(Ledger ledger, std::string why, WallTime now);

// Closes it. The arrivals so far no longer count, because the operator has seen them. A closed
// breaker stays as it is. kInvalid if `by` is empty.
[[nodiscard]] Result<Ledger> close_breaker(Ledger ledger, std::string by, WallTime now);

}  // namespace gpuward::remediator
