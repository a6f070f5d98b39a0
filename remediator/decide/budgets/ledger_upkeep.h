// Keeps the ledger consistent with the Remediations: frees slots that no Remediation will release
// any more, and rebuilds a lost ledger. Pure; the leader uses it when it starts and regularly after
// that.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "remediator/decide/budgets/ledger.h"
#include "remediator/model/fleet.h"
#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {

// All existing Remediations, from one complete list of the API server.
struct Roll {
  std::set<std::string, std::less<>> open, closed;
  WallTime taken_at;  // Time before the list was requested.
};

// Minimum age of a slot before settled() may free it as orphaned. A younger slot may belong to a
// Remediation that is newer than the roll, because the clocks of replicas differ.
inline constexpr std::chrono::minutes kRollMargin{5};

// Frees the slots of closed Remediations, which a crash between closing and releasing leaves
// behind. Slots of Remediations that do not exist stay until their node, with the same UID, is
// ready, schedulable and without a fault, or until limits.orphan_hold has passed. `kubectl delete
// remediation` deletes the record, but the node is still drained, rebooting or gone. So deleting
// Remediations must not give a fresh budget. Recorded starts stay in their windows in any case.
[[nodiscard]] Ledger settled(Ledger ledger, const Roll& roll, const Fleet& fleet,
                             const BudgetLimits& limits, WallTime now);

// A step in the record of a Remediation, and the budget that the step used.
struct RecordedStep {
  Impact impact = Impact::kCordon;
  std::optional<Treatment> treatment;  // Set for steps that count for escalation.
  WallTime at;                         // Time of the intent.
};
struct SpentRecord {
  std::string remediation, node, node_uid;
  Hardware hardware;
  Place place;
  bool open = false;
  std::vector<RecordedStep> steps;
};

// Adds the use in the records to the ledger. If any use was missing, the ledger was lost together
// with the use by deleted Remediations. The circuit breaker then opens, and an operator decides.
// Records without any use, as in a fresh install, change nothing.
[[nodiscard]] Ledger rebuilt(const Ledger& ledger, std::span<const SpentRecord> records,
                             WallTime now);

// Adds slots for taints that open Remediations record and the ledger lacks. An older version, which
// took no slots for taints, has set such taints. A missing slot does not mean that the ledger was
// lost, so the breaker stays unchanged.
[[nodiscard]] Ledger with_recorded_taints(Ledger ledger, std::span<const SpentRecord> records);

}  // namespace gpuward::remediator
