// The budgets as the reconciler asks them: may this Remediation take this step now? A slot is taken
// for good before the step is recorded, so that two replicas never share one. Implemented over the
// ledger; tests answer by hand.
#pragma once

#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

struct SlotRefusal {
  std::string guard;    // "budget.pool", "breaker", "storm", ...
  std::string message;  // with the numbers
  // The step has been taken on this machine already, and it did not last: what is worse is next.
  bool is_worn_out = false;
  // A cordon was asked for, and is to wait; the taint before it has its slot.
  bool has_taint = false;
};

// Whether it is to be counted as new: nothing is recorded yet of what could disrupt anybody. Drills
// open no circuit breaker.
[[nodiscard]] inline bool is_arrival(const Remediation& remediation) {
  return remediation.status.steps.empty() && remediation.severity >= Severity::kReset &&
         !remediation.is_drill();
}

// Any thread.
class Slots {
 public:
  virtual ~Slots() = default;
  // Takes the slot, or keeps the one that is taken already; a refusal where a budget forbids it. An
  // error where the ledger cannot be read or written: then the step waits. One that is new is
  // counted as with arrived(), before it is weighed. For a cordon the slot of the taint is taken
  // first, where the policy wants one beside it.
  [[nodiscard]] virtual Result<std::optional<SlotRefusal>> take(const Remediation& remediation,
                                                                const kube::Node& node,
                                                                Step step) = 0;
  // The refusal of take() that will last: the machine has had that step lately, and it escalates;
  // or the step waits until it is known whether it has. Nothing is taken. Asked before anybody is
  // asked to approve the step.
  [[nodiscard]] virtual Result<std::optional<SlotRefusal>> worn_out(const Remediation& remediation,
                                                                    const kube::Node& node,
                                                                    Step step) = 0;
  // The Remediation is new: too many in a short time open the circuit breaker. Safe to repeat.
  [[nodiscard]] virtual Status arrived(const Remediation& remediation) = 0;
  // The Remediation is closed and nothing of it goes on. Safe to repeat.
  [[nodiscard]] virtual Status give_back(const Remediation& remediation) = 0;
};

}  // namespace gpuward::remediator
