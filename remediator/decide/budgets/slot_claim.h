// Decides on a ledger and a census whether a Remediation may take a step now. Checks all limits of
// the policy: earlier treatments of the machine, the cooldown, Draino's buffer, the budgets. Pure;
// ledger_slots uses it inside a change of the real ledger, the replay on a simulated ledger.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "remediator/decide/budgets/budgets.h"
#include "remediator/decide/budgets/ledger.h"
#include "remediator/decide/budgets/slots.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// How long a restart counts. A machine that was restarted for a fault within this time is not
// restarted for another fault.
inline constexpr std::chrono::hours kRebootLasts{24 * 7};

// impact_of() and treatment_of() return how a step is counted; nullopt if the step has no impact or
// is no treatment.
[[nodiscard]] std::optional<Impact> impact_of(Step step);
[[nodiscard]] std::optional<Treatment> treatment_of(Step step);

// Returns the step's request to the budgets; nullopt if the step needs no slot.
[[nodiscard]] std::optional<SlotRequest> slot_request(const Remediation& remediation,
                                                      const kube::Node& node, Step step);

struct SlotClaim {
  const Remediation& remediation;
  Step step;
  SlotRequest request;
  const Policy& policy;  // The policy for this node.
  WallTime now;
  std::optional<SlotRefusal> refusal;  // Result of the claim.
  // True: checks only whether the machine is worn out, and takes no slot.
  bool only_asks = false;
  // Remediations that intended this treatment but did not carry it out. The ledger records each
  // attempt before its call, and only an accepted call counts against the machine.
  std::set<std::string> untreated = {};
  // Result for a worn-out machine: the Remediations with attempts that count.
  std::set<std::string> treated_by = {};
};

// Returns the ledger with the slot and, for a treatment, with the attempt. If it sets
// claim.refusal, neither is added, except for the slot of a taint that precedes a cordon. A new
// Remediation is counted in either case.
[[nodiscard]] Ledger with_claim(Ledger ledger, const Fleet& fleet, SlotClaim& claim);

// Counts the Remediation for the circuit breaker if it is new. `nodes`: the size of the census.
[[nodiscard]] Ledger with_arrival(Ledger ledger, const Remediation& remediation,
                                  const BudgetLimits& limits, std::size_t nodes, WallTime now);

}  // namespace gpuward::remediator
