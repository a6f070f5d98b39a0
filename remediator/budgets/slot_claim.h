// Decides whether a Remediation may take a step now, on a ledger and a census. Checks all that the
// policy limits: earlier treatments of the machine, the cooldown, Draino's buffer, the budgets.
// Pure; used by ledger_slots inside a change of the real ledger, and by the replay on a simulated
// one.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "remediator/budgets/budgets.h"
#include "remediator/budgets/ledger.h"
#include "remediator/budgets/slots.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// A machine that was restarted for a fault within this time is not restarted again for another.
inline constexpr std::chrono::hours kRebootLasts{24 * 7};

// How a step is counted; nullopt if it affects nothing, or is not a treatment.
[[nodiscard]] std::optional<Impact> impact_of(Step step);
[[nodiscard]] std::optional<Treatment> treatment_of(Step step);

// Returns the step's request to the budgets; nullopt if the step needs no slot.
[[nodiscard]] std::optional<SlotRequest> slot_request(const Remediation& remediation,
                                                      const kube::Node& node, Step step);

struct SlotClaim {
  const Remediation& remediation;
  Step step;
  SlotRequest request;
  const Policy& policy;  // for this node
  WallTime now;
  std::optional<SlotRefusal> refusal;  // the answer
  bool only_asks = false;              // only whether the machine is worn out; takes nothing
  // Remediations whose attempts at this treatment were not carried out: the ledger has each from
  // before its call, and only an accepted call counts against the machine.
  std::set<std::string> untreated = {};
  // Part of the answer if the machine is worn out: the Remediations whose attempts count.
  std::set<std::string> treated_by = {};
};

// Returns the ledger with the slot and, for a treatment, with the attempt. If claim.refusal is set,
// it has neither, except for the slot of a taint that precedes a cordon. A new Remediation is
// counted in either case.
[[nodiscard]] Ledger with_claim(Ledger ledger, const Fleet& fleet, SlotClaim& claim);

// Counts the Remediation for the circuit breaker if it is new. `nodes`: the size of the census.
[[nodiscard]] Ledger with_arrival(Ledger ledger, const Remediation& remediation,
                                  const BudgetLimits& limits, std::size_t nodes, WallTime now);

}  // namespace gpuward::remediator
