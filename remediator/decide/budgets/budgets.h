// Decides whether one more node may be affected: tainted, cordoned, disrupted (drain, reset,
// reboot) or terminated. Called inside a change of the ledger (decide/budgets/ledger_store), so
// that the checked ledger is the written ledger. All limits must allow the slot; the first limit
// that does not gives the refusal. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "remediator/decide/budgets/ledger.h"
#include "remediator/model/fleet.h"
#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {

struct SlotRequest {
  std::string remediation;
  std::string node, node_uid, instance_id;
  Impact impact = Impact::kCordon;
  // gpuward's taint was on the node in the last read of the Node, even if the fleet is older.
  bool is_tainted = false;
};

struct Refusal {
  // The rule that refused: budget.breaker, budget.census, budget.storm, budget.ledger,
  // budget.taint, budget.cordon, budget.cluster, budget.pool, budget.zone, budget.label,
  // budget.window, budget.terminate, budget.min-healthy
  std::string guard;
  std::string message;  // Reason for people, with the numbers.
  // How long until time alone may change the answer; nullopt if something else must change.
  std::optional<std::chrono::milliseconds> retry_after;
};

// Returns why the slot is refused; nullopt if the Remediation may take it. A Remediation that
// already holds such a slot is not counted twice. An open breaker and a storm stop it too, so call
// this before every disruptive step. A taint that is set again is never refused, and the breaker
// refuses no taint.
//
// Limits count nodes, not Remediations. A node counts in its place when the slot was taken and in
// its current place, so that a changed label or configuration frees nothing.
[[nodiscard]] std::optional<Refusal> refuse_slot(const Ledger& ledger, const Fleet& fleet,
                                                 const BudgetLimits& limits,
                                                 const SlotRequest& request, WallTime now);

// Returns the slot that the request takes, for with_slot().
[[nodiscard]] Slot slot_for(const Ledger& ledger, const Fleet& fleet, const SlotRequest& request,
                            WallTime now);

// One limit and its use, for metrics and `explain`.
struct BudgetUse {
  std::string guard;  // The rule, as in a Refusal.
  std::string where;  // "the cluster", "pool a", ...
  int used = 0, allowed = 0;
};

// Returns the use of all limits: of the cluster, of each pool and zone, of the taints in the
// cluster and in each pool, of the cordons in each pool, and of the terminations.
[[nodiscard]] std::vector<BudgetUse> budget_uses(const Ledger& ledger, const Fleet& fleet,
                                                 const BudgetLimits& limits, WallTime now);

}  // namespace gpuward::remediator
