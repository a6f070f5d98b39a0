// The interface of the budgets for the reconciler: may this Remediation take this step now? A slot
// is taken before the step is recorded and stays taken, so that two replicas never share a slot.
// LedgerSlots implements the interface; tests use a fake.
#pragma once

#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

struct SlotRefusal {
  std::string guard;    // "budget.pool", "budget.storm", "cooldown", ...
  std::string message;  // Reason for people, with the numbers.
  // True if the step was already taken on this machine and did not last. The caller escalates.
  bool is_worn_out = false;
  // True if the cordon must wait although the taint before it has its slot.
  bool has_taint = false;
};

// Returns whether the Remediation counts as new for the circuit breaker: it has begun no step yet,
// has severity reset or worse, and is no drill.
[[nodiscard]] inline bool is_arrival(const Remediation& remediation) {
  return remediation.status.steps.empty() && remediation.severity >= Severity::kReset &&
         !remediation.is_drill();
}

// Grants and releases slots. Thread-safe.
class Slots {
 public:
  virtual ~Slots() = default;
  // Takes the slot, or keeps the slot that is already taken; returns a refusal if a budget forbids
  // it. Returns an error if the ledger cannot be read or written; the step then waits. A new
  // Remediation is first counted as by arrived(). For a cordon, take() first takes the slot of the
  // taint if the policy has a taint step.
  [[nodiscard]] virtual Result<std::optional<SlotRefusal>> take(const Remediation& remediation,
                                                                const kube::Node& node,
                                                                Step step) = 0;
  // Returns the refusal by which the machine's history stops the step. Either the machine had the
  // step recently and the caller escalates, or the caller waits until the result of an earlier call
  // is known. Takes no slot. Called before gpuward requests an approval of the step.
  [[nodiscard]] virtual Result<std::optional<SlotRefusal>> worn_out(const Remediation& remediation,
                                                                    const kube::Node& node,
                                                                    Step step) = 0;
  // Counts a new Remediation. Too many in a short time open the circuit breaker. Safe to repeat.
  [[nodiscard]] virtual Status arrived(const Remediation& remediation) = 0;
  // Releases the slot of a closed Remediation that has no step under way. Safe to repeat.
  [[nodiscard]] virtual Status give_back(const Remediation& remediation) = 0;
};

}  // namespace gpuward::remediator
