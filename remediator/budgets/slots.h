// The budgets as the reconciler uses them: may this Remediation take this step now? A slot is taken
// before the step is recorded and stays taken, so that two replicas never share one. Implemented
// over the ledger; tests use a fake.
#pragma once

#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

struct SlotRefusal {
  std::string guard;    // "budget.pool", "budget.storm", "cooldown", ...
  std::string message;  // with the numbers
  // The step was already taken on this machine and did not last: escalate.
  bool is_worn_out = false;
  // The request was for a cordon, which must wait; the taint before it has its slot.
  bool has_taint = false;
};

// Whether it counts as new: it has not begun any step yet. Drills do not count for the circuit
// breaker.
[[nodiscard]] inline bool is_arrival(const Remediation& remediation) {
  return remediation.status.steps.empty() && remediation.severity >= Severity::kReset &&
         !remediation.is_drill();
}

// Thread-safe.
class Slots {
 public:
  virtual ~Slots() = default;
  // Takes the slot, or keeps the one that is already taken; a refusal if a budget forbids it. An
  // error if the ledger cannot be read or written: the step then waits. A new Remediation is first
  // counted as by arrived(). For a cordon, the slot of the taint is taken first if the policy has a
  // taint step.
  [[nodiscard]] virtual Result<std::optional<SlotRefusal>> take(const Remediation& remediation,
                                                                const kube::Node& node,
                                                                Step step) = 0;
  // Returns the refusal of take() that will last: the machine had that step recently, and it
  // escalates; or the step waits until it is known whether it had. Takes nothing. Called before
  // gpuward requests an approval of the step.
  [[nodiscard]] virtual Result<std::optional<SlotRefusal>> worn_out(const Remediation& remediation,
                                                                    const kube::Node& node,
                                                                    Step step) = 0;
  // Counts a new Remediation: too many in a short time open the circuit breaker. Safe to repeat.
  [[nodiscard]] virtual Status arrived(const Remediation& remediation) = 0;
  // Releases the slot of a closed Remediation that has no step under way. Safe to repeat.
  [[nodiscard]] virtual Status give_back(const Remediation& remediation) = 0;
};

}  // namespace gpuward::remediator
