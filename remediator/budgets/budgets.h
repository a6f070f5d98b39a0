// Whether one more node may be harmed: tainted, cordoned, disrupted (drain, reset, reboot) or
// terminated. Pure; asked inside a change of the ledger (budgets/ledger_store), so that what was
// counted is what is written. All limits must agree; the first that does not is the answer.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "remediator/budgets/ledger.h"
#include "remediator/model/fleet.h"
#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {

struct SlotRequest {
  std::string remediation;
  std::string node, node_uid, instance_id;
  Impact impact = Impact::kCordon;
  bool is_tainted = false;  // by us, as the node was just read and not as the fleet remembers it
};

struct Refusal {
  // budget.breaker, budget.census, budget.storm, budget.ledger, budget.taint, budget.cordon,
  // budget.cluster, budget.pool, budget.zone, budget.label, budget.window, budget.terminate,
  // budget.min-healthy
  std::string guard;
  std::string message;  // with the numbers
  // When time alone may change the answer; absent where something else has to happen.
  std::optional<std::chrono::milliseconds> retry_after;
};

// Why the slot is not to be had; nullopt where it is. A Remediation that holds that much already is
// not counted again, but an open breaker and a storm stop it too: ask before every harmful step,
// not only before the first. A taint that is put on once more is never refused; the breaker stops
// none.
//
// Counted are nodes, not Remediations: a node stands where it stood when its slot was taken and
// where it stands now, so that neither a changed label nor a changed configuration frees anything.
[[nodiscard]] std::optional<Refusal> refuse_slot(const Ledger& ledger, const Fleet& fleet,
                                                 const BudgetLimits& limits,
                                                 const SlotRequest& request, WallTime now);

// The slot that such a request takes, to be given to with_slot.
[[nodiscard]] Slot slot_for(const Ledger& ledger, const Fleet& fleet, const SlotRequest& request,
                            WallTime now);

// One limit and how much of it is spent, for metrics and `explain`.
struct BudgetUse {
  std::string guard;  // as in a Refusal
  std::string where;  // "the cluster", "pool a", ...
  int used = 0, allowed = 0;
};

// Of the cluster, each pool and zone, the taints of both, the cordons of each pool, and the
// terminations.
[[nodiscard]] std::vector<BudgetUse> budget_uses(const Ledger& ledger, const Fleet& fleet,
                                                 const BudgetLimits& limits, WallTime now);

}  // namespace gpuward::remediator
