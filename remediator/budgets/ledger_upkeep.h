// Keeps the ledger true to the Remediations: frees slots that no Remediation will release any more,
// and rebuilds a lost ledger. Pure; used by the leader when it starts and from time to time.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "remediator/budgets/ledger.h"
#include "remediator/model/fleet.h"
#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {

// All existing Remediations, from one complete list of the API server.
struct Roll {
  std::set<std::string, std::less<>> open, closed;
  WallTime taken_at;  // before the list was requested
};

// A slot that was not taken at least this long before the roll may belong to a Remediation that is
// newer than the roll, because the clock of the replica that took it may differ.
inline constexpr std::chrono::minutes kRollMargin{5};

// Frees the slots of closed Remediations (after a crash between closing and releasing), and with
// care those of Remediations that do not exist. `kubectl delete remediation` deletes the record,
// not the fact: the node is still drained, rebooting or gone, and deleting one Remediation after
// the other must not give a fresh budget with each. Such a slot stays until its node, the same by
// UID, is ready, schedulable and without a fault again, which proves that it costs nothing any
// more, or until limits.orphan_hold has passed, so that a node that never comes back does not hold
// the budget forever. Recorded starts stay in their windows in any case.
[[nodiscard]] Ledger settled(Ledger ledger, const Roll& roll, const Fleet& fleet,
                             const BudgetLimits& limits, WallTime now);

// The steps that a Remediation's own record has, and what they have spent.
struct RecordedStep {
  Impact impact = Impact::kCordon;
  std::optional<Treatment> treatment;  // for steps that count for escalation
  WallTime at;                         // of its intent
};
struct SpentRecord {
  std::string remediation, node, node_uid;
  Hardware hardware;
  Place place;
  bool open = false;
  std::vector<RecordedStep> steps;
};

// Adds the use in the records to the ledger. If any of it was missing, the ledger was lost, and
// with it the use by deleted Remediations: the circuit breaker opens, and an operator decides. If
// no Remediation has done anything (a fresh install), nothing changes.
[[nodiscard]] Ledger rebuilt(const Ledger& ledger, std::span<const SpentRecord> records,
                             WallTime now);

// Adds the slots of taints that open Remediations record and the ledger lacks: an older version
// that took no slots for taints has set them. A missing one is not a sign of a lost ledger, so the
// breaker stays as it is.
[[nodiscard]] Ledger with_recorded_taints(Ledger ledger, std::span<const SpentRecord> records);

}  // namespace gpuward::remediator
