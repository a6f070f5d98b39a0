// May this Remediation take this step now? Weighed on a ledger and a census, all of what the policy
// limits: what the machine has behind it, the cooldown, Draino's buffer, the budgets. Pure; used by
// ledger_slots inside a change of the real ledger, and by the replay on one that it makes up.
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

// A machine that was restarted for a fault within this time is not restarted again for one.
inline constexpr std::chrono::hours kRebootLasts{24 * 7};

// What a step is counted as; nullopt where it takes nothing away, or is no treatment.
[[nodiscard]] std::optional<Impact> impact_of(Step step);
[[nodiscard]] std::optional<Treatment> treatment_of(Step step);

// What is asked of the budgets for it; nullopt where the step needs no slot.
[[nodiscard]] std::optional<SlotRequest> slot_request(const Remediation& remediation,
                                                      const kube::Node& node, Step step);

struct SlotClaim {
  const Remediation& remediation;
  Step step;
  SlotRequest request;
  const Policy& policy;  // for this node
  WallTime now;
  std::optional<SlotRefusal> refusal;  // the answer
  bool only_asks = false;              // only whether the machine is worn out; nothing is taken
  // Remediations whose attempts at this treatment came to nothing: the ledger has each from before
  // its call, and only what was accepted counts against the machine.
  std::set<std::string> untreated = {};
  // Part of the answer where the machine is worn out: whose attempts count.
  std::set<std::string> treated_by = {};
};

// The ledger with the slot and, of a treatment, with the attempt; where claim.refusal is set,
// without both, but for the slot of a taint that stands before a cordon. A Remediation that is new
// is counted in either case.
[[nodiscard]] Ledger with_claim(Ledger ledger, const Fleet& fleet, SlotClaim& claim);

// The Remediation counted for the circuit breaker, where it is new. `nodes`: of the census.
[[nodiscard]] Ledger with_arrival(Ledger ledger, const Remediation& remediation,
                                  const BudgetLimits& limits, std::size_t nodes, WallTime now);

}  // namespace gpuward::remediator
