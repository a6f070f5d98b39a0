#include "remediator/decide/budgets/ledger_slots.h"

#include <algorithm>
#include <utility>

#include "core/runtime/clock.h"
#include "remediator/cluster/view_queries.h"
#include "remediator/decide/budgets/ledger_upkeep.h"
#include "remediator/decide/budgets/slot_claim.h"
#include "remediator/model/step_call.h"
#include "remediator/policy/policy_for_remediation.h"

namespace gpuward::remediator {

LedgerSlots::LedgerSlots(LedgerStore& ledger, RemediationStore& remediations,
                         const ClusterView& view, const CurrentPolicy& policy, Clock& clock)
    : ledger_(ledger), remediations_(remediations), view_(view), policy_(policy), clock_(clock) {}

Result<std::optional<SlotRefusal>> LedgerSlots::take(const Remediation& remediation,
                                                     const kube::Node& node, Step step) {
  if (!impact_of(step)) return std::nullopt;
  if (!view_.informers().is_fresh(clock_.steady())) return refuse_by_old_view(remediation);
  // A drill that has begun continues, so that it releases its slot sooner.
  if (remediation.is_drill() && is_taint_or_cordon(step) && has_fault_waiting_for_budget(view_))
    return SlotRefusal{.guard = "budget.drill",
                       .message = "a real fault is waiting for a budget slot"};
  constexpr bool kOnlyAsks = false;
  return settle(remediation, node, step, kOnlyAsks);
}

Result<std::optional<SlotRefusal>> LedgerSlots::worn_out(const Remediation& remediation,
                                                         const kube::Node& node, Step step) {
  if (!treatment_of(step)) return std::nullopt;
  constexpr bool kOnlyAsks = true;
  return settle(remediation, node, step, kOnlyAsks);
}

Result<std::optional<SlotRefusal>> LedgerSlots::settle(const Remediation& remediation,
                                                       const kube::Node& node, Step step,
                                                       bool only_asks) {
  auto request = slot_request(remediation, node, step);
  if (!request) return std::nullopt;
  const auto policy = policy_for(policy_.get(), &node, remediation);
  SlotClaim claim{.remediation = remediation,
                  .step = step,
                  .request = *std::move(request),
                  .policy = *policy,
                  .now = {},
                  .refusal = {},
                  .only_asks = only_asks};
  for (;;) {
    // change() may call this several times; the last call counts.
    const auto status = ledger_.change([&](Ledger& ledger) -> Status {
      claim.now = clock_.wall();
      with_fleet(view_,
                 [&](const Fleet& fleet) { ledger = with_claim(std::move(ledger), fleet, claim); });
      return {};
    });
    if (!status) return std::unexpected(status.error());
    if (!claim.refusal || !claim.refusal->is_worn_out) return claim.refusal;
    // Before a more severe step follows from this: read whether those attempts were carried out.
    const std::size_t known = claim.untreated.size();
    if (auto why = look_for_untreated(claim); !why || *why) return why;
    if (claim.untreated.size() == known) return claim.refusal;
  }
}

// An attempt of a deleted Remediation counts as the ledger has it. If it is unknown whether a call
// arrived, it may still take effect: the attempt does not count, but the step waits until
// kLateRestart after that attempt's intent.
Result<std::optional<SlotRefusal>> LedgerSlots::look_for_untreated(SlotClaim& claim) {
  for (const std::string& name : claim.treated_by) {
    if (name == claim.remediation.name) continue;  // of a deleted one that had this name
    const auto other = remediations_.read(name);
    if (!other && other.error().kind == ErrorKind::kNotFound) continue;
    if (!other) return std::unexpected(other.error());
    const StepRecord* record = other->status.find(claim.step);
    if (record != nullptr && has_treated(*record)) continue;
    claim.untreated.insert(name);
    const bool is_unknown = record != nullptr && record->intent_at &&
                            is_of_the_machine(claim.step) && call_of(*record) == Call::kUnknown;
    if (!is_unknown || claim.now > *record->intent_at + kLateRestart) continue;
    return SlotRefusal{.guard = "cooldown",
                       .message = std::string(to_string(claim.step)) +
                                  " of this machine may still be running for another remediation: "
                                  "no new request before " +
                                  to_rfc3339(*record->intent_at + kLateRestart)};
  }
  return std::nullopt;
}

// A new Remediation still counts for the circuit breaker.
Result<std::optional<SlotRefusal>> LedgerSlots::refuse_by_old_view(const Remediation& remediation) {
  if (is_arrival(remediation)) {
    if (auto counted = arrived(remediation); !counted) return std::unexpected(counted.error());
  }
  return SlotRefusal{
      .guard = "guard.view",
      .message = "no update from the API server on Nodes and Remediations for more than " +
                 std::to_string(kOldestView / std::chrono::seconds(1)) +
                 " s: budget counts may be outdated"};
}

Status LedgerSlots::arrived(const Remediation& remediation) {
  const BudgetLimits limits = policy_.get()->budgets;
  const std::size_t nodes = fleet_size(view_);
  return ledger_.change([&](Ledger& ledger) -> Status {
    ledger = with_arrival(std::move(ledger), remediation, limits, nodes, clock_.wall());
    return {};
  });
}

Status LedgerSlots::give_back(const Remediation& remediation) {
  return ledger_.change([&](Ledger& ledger) -> Status {
    ledger = without_slot(std::move(ledger), remediation.name);
    return {};
  });
}

Status LedgerSlots::keep() {
  Roll roll;
  roll.taken_at = clock_.wall();
  const auto all = remediations_.list_all();
  if (!all) return std::unexpected(all.error());
  std::vector<SpentRecord> spent;
  for (const Remediation& remediation : *all) {
    (remediation.open() ? roll.open : roll.closed).insert(remediation.name);
    spent.push_back(spent_by(remediation));
  }
  const WallTime now = clock_.wall();
  const auto begun = ledger_.begin([&]() -> Result<Ledger> { return rebuilt({}, spent, now); });
  if (!begun) return begun;
  const BudgetLimits limits = policy_.get()->budgets;
  const auto settled_now = ledger_.change([&](Ledger& ledger) -> Status {
    with_fleet(view_, [&](const Fleet& fleet) {
      ledger = with_recorded_taints(std::move(ledger), spent);
      ledger = settled(std::move(ledger), roll, fleet, limits, clock_.wall());
    });
    return {};
  });
  return settled_now ? forget(*all) : settled_now;
}

// Runs after the ledger has freed the slots of closed Remediations.
Status LedgerSlots::forget(const std::vector<Remediation>& all) {
  for (const Remediation* one : to_forget(all, policy_.get()->retention, clock_.wall())) {
    const auto gone = remediations_.remove(*one);
    if (!gone && gone.error().kind != ErrorKind::kNotFound) return gone;
  }
  return {};
}

std::optional<LedgerSlots::Spending> LedgerSlots::spending() const {
  const auto ledger = ledger_.last();
  if (!ledger) return std::nullopt;
  Spending spending{.breaker = ledger->breaker,
                    .uses = {},
                    .slots = {{Impact::kTaint, ledger->taints.size()},
                              {Impact::kCordon, 0},
                              {Impact::kDisrupt, 0},
                              {Impact::kTerminate, 0}}};
  for (const Slot& slot : ledger->slots) ++spending.slots[slot.impact];
  const auto policy = policy_.get();
  with_fleet(view_, [&](const Fleet& fleet) {
    spending.uses = budget_uses(*ledger, fleet, policy->budgets, clock_.wall());
  });
  return spending;
}

SpentRecord spent_by(const Remediation& remediation) {
  SpentRecord record{
      .remediation = remediation.name,
      .node = remediation.node,
      .node_uid = remediation.node_uid,
      .hardware = {.instance_id = remediation.instance_id, .serials = remediation.status.gpus},
      .place = {},
      .open = remediation.open(),
      .steps = {}};
  for (const StepRecord& step : remediation.status.steps) {
    const auto impact = impact_of(step.step);
    if (!impact || !step.intent_at) continue;
    const auto treatment = step.drill ? std::nullopt : treatment_of(step.step);
    record.steps.push_back({.impact = *impact, .treatment = treatment, .at = *step.intent_at});
  }
  return record;
}

}  // namespace gpuward::remediator
