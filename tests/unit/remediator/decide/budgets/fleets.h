// Censuses and requests for the tests of the budgets: nodes n0, n1, ... with UIDs u0, u1, ..., each
// ready and healthy, and their Remediations r0, r1, ...
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "remediator/decide/budgets/budgets.h"

namespace gpuward::remediator {

inline const WallTime kToday = WallTime(std::chrono::hours(500'000));

inline std::string uid_of(int n) { return "u" + std::to_string(n); }
inline std::string remediation_of(int n) { return "r" + std::to_string(n); }

// All nodes are in the pool "p" and the zone "z", and in no rack.
inline Fleet fleet_of(int nodes) {
  Fleet fleet;
  for (int n = 0; n < nodes; ++n) {
    FleetNode node;
    node.name = "n" + std::to_string(n);
    node.place = {"p", "z", {}};
    node.ready = node.schedulable = true;
    fleet.nodes.emplace(uid_of(n), node);
  }
  return fleet;
}

inline SlotRequest request_for(int n, Impact impact) {
  return {remediation_of(n), "n" + std::to_string(n), uid_of(n), "i-" + std::to_string(n), impact};
}

inline Ledger with_taken(const Ledger& ledger, const Fleet& fleet, int n, Impact impact,
                         WallTime at = kToday) {
  return with_slot(ledger, slot_for(ledger, fleet, request_for(n, impact), at));
}

// Returns the guard that refuses, or "".
inline std::string guard_of(const Ledger& ledger, const Fleet& fleet, const BudgetLimits& limits,
                            const SlotRequest& request, WallTime now = kToday) {
  const auto refused = refuse_slot(ledger, fleet, limits, request, now);
  return refused ? refused->guard : "";
}

// Returns limits that refuse nothing. A test sets the one that it needs.
inline BudgetLimits without_limits() {
  constexpr Share kAll{1000, 0};
  BudgetLimits limits;
  limits.cluster = limits.pool = limits.zone = {kAll};
  limits.tainted = limits.cordoned = kAll;
  limits.labels.clear();
  limits.terminations.clear();
  return limits;
}

}  // namespace gpuward::remediator
