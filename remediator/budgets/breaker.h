// The circuit breaker: too many new Remediations in a short time mean that something else than the
// nodes is broken. It opens by itself, stays open over restarts (it is part of the ledger), and
// only an operator closes it. While it is open no slot is given; giving slots back, uncordoning and
// untainting need none and go on. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "core/model/result.h"
#include "remediator/budgets/ledger.h"
#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {

// Counts one new Remediation, of severity reset or worse. The caller says so once it is created
// and, after a restart, of all that are open: what is known or older than the window changes
// nothing. `nodes` are those of the census. Opens the breaker where more nodes than limits.breaker
// allows have got one within the window.
[[nodiscard]] Ledger with_new_remediation(Ledger ledger, const Arrival& arrival,
                                          const BudgetLimits& limits, std::size_t nodes,
                                          WallTime now);

// Opens it by hand, or because the ledger was lost. One that is open stays as it is.
[[nodiscard]] Ledger open_breaker(Ledger ledger, std::string why, WallTime now);

// What has come until now no longer counts: the operator has seen it. One that is closed stays as
// it is. kInvalid where nobody stands for it.
[[nodiscard]] Result<Ledger> close_breaker(Ledger ledger, std::string by, WallTime now);

}  // namespace gpuward::remediator
