// Keeping the ledger true to the Remediations: slots that nobody gives back any more, and a ledger
// that was lost. Pure; used by the leader when it starts and from time to time.
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

// All Remediations there are, from one complete list of the API server.
struct Roll {
  std::set<std::string, std::less<>> open, closed;
  WallTime taken_at;  // before the list was asked for
};

// A slot that was not taken at least so long before the roll may belong to a Remediation that is
// newer than the roll; the clock of the replica that took it need not be ours.
inline constexpr std::chrono::minutes kRollMargin{5};

// Frees the slots of closed Remediations (a crash came between the closing and the giving back),
// and with care those of Remediations that do not exist. `kubectl delete remediation` takes the
// record away, not the fact: the node is still drained, rebooting or gone, and whoever deletes one
// Remediation after the other must not get a fresh budget with each. Such a slot stays until its
// node, the same by UID, is ready, schedulable and without a fault again, which is proof that it
// costs nothing any more, or until limits.orphan_hold has passed, so that a node that never comes
// back does not bind the budget for ever. What was begun stays in its windows in any case.
[[nodiscard]] Ledger settled(Ledger ledger, const Roll& roll, const Fleet& fleet,
                             const BudgetLimits& limits, WallTime now);

// What a Remediation's own record says of what was done.
struct RecordedStep {
  Impact impact = Impact::kCordon;
  std::optional<Treatment> treatment;  // of the steps that are counted for escalation
  WallTime at;                         // of its intent
};
struct SpentRecord {
  std::string remediation, node, node_uid;
  Hardware hardware;
  Place place;
  bool open = false;
  std::vector<RecordedStep> steps;
};

// Folds in what the ledger should have known. Where it did not know something, it was lost, and
// with it what deleted Remediations had spent: then the circuit breaker is opened, and an operator
// who knows decides. Without Remediations that did anything (a fresh install) nothing happens.
[[nodiscard]] Ledger rebuilt(const Ledger& ledger, std::span<const SpentRecord> records,
                             WallTime now);

// The slots of taints that the open Remediations record and the ledger does not have: a version
// that took none has put them there. Nothing is lost where one is missing: the breaker stays as it
// is.
[[nodiscard]] Ledger with_recorded_taints(Ledger ledger, std::span<const SpentRecord> records);

}  // namespace gpuward::remediator
