#include "remediator/workflow/ledger_slots.h"

#include <utility>

#include "core/runtime/clock.h"
#include "remediator/safety/breaker.h"
#include "remediator/safety/ledger_upkeep.h"

namespace gpuward::remediator {
namespace {

std::optional<Harm> harm_of(Step step) {
  if (step == Step::kCordon) return Harm::kCordon;
  if (step == Step::kTerminate) return Harm::kTerminate;
  if (is_disruptive(step)) return Harm::kDisrupt;
  return std::nullopt;
}

std::optional<Treatment> treatment_of(Step step) {
  if (step == Step::kGpuReset) return Treatment::kReset;
  if (step == Step::kReboot) return Treatment::kReboot;
  if (step == Step::kTerminate) return Treatment::kTerminate;
  return std::nullopt;
}

bool is_worn_out(const Ledger& ledger, const Attempt& attempt) {
  int others = attempts_on(ledger, attempt.hardware, attempt.treatment, attempt.at - kRebootLasts);
  for (const Attempt& known : ledger.attempts) {
    const bool is_own = known.remediation == attempt.remediation &&
                        known.treatment == attempt.treatment &&
                        known.at >= attempt.at - kRebootLasts;
    if (is_own) --others;
  }
  return others > 0;
}

std::optional<SlotRefusal> refuse_worn_out(const Ledger& ledger, const Attempt& attempt) {
  if (!is_worn_out(ledger, attempt)) return std::nullopt;
  return SlotRefusal{.guard = "escalation.repeated",
                     .message = std::string(to_string(attempt.treatment)) +
                                " was done on this machine within the last 7 days already",
                     .is_worn_out = true};
}

// A machine that another Remediation has reset or restarted is left alone for a while.
std::optional<SlotRefusal> refuse_cooling(const Ledger& ledger, const Attempt& attempt,
                                          std::chrono::milliseconds cooldown) {
  const auto last = last_treated_for_others(ledger, attempt);
  if (!last || attempt.at >= *last + cooldown) return std::nullopt;
  return SlotRefusal{.guard = "cooldown",
                     .message =
                         "this machine was treated already: nothing is taken away from it "
                         "before " +
                         to_rfc3339(*last + cooldown),
                     .is_worn_out = false};
}

}  // namespace

LedgerSlots::LedgerSlots(LedgerStore& ledger, RemediationStore& remediations,
                         const ClusterView& view, const CurrentPolicy& policy, Clock& clock)
    : ledger_(ledger), remediations_(remediations), view_(view), policy_(policy), clock_(clock) {}

Result<std::optional<SlotRefusal>> LedgerSlots::take(const Remediation& remediation,
                                                     const kube::Node& node, Step step) {
  const auto harm = harm_of(step);
  if (!harm) return std::nullopt;
  const auto policy = policy_.get();
  const BudgetLimits& limits = policy->budgets;
  const auto cooldown = policy->cooldown;
  const Fleet fleet = view_.fleet();
  const SlotRequest request{.remediation = remediation.name,
                            .node = node.meta.name,
                            .node_uid = node.meta.uid,
                            .instance_id = node.provider_id,
                            .harm = *harm};
  const auto treatment = treatment_of(step);
  std::optional<SlotRefusal> refusal;
  // change() may call it several times, the last time last.
  const auto status = ledger_.change([&](const Ledger& ledger) -> Result<Ledger> {
    const WallTime now = clock_.wall();
    refusal.reset();
    const Attempt attempt{.remediation = remediation.name,
                          .hardware = {.instance_id = node.provider_id, .serials = {}},
                          .treatment = treatment.value_or(Treatment::kReset),
                          .at = now};
    if (treatment) refusal = refuse_worn_out(ledger, attempt);
    if (!refusal && is_disruptive(step)) refusal = refuse_cooling(ledger, attempt, cooldown);
    if (refusal) return ledger;
    if (auto why = refuse_slot(ledger, fleet, limits, request, now)) {
      refusal = SlotRefusal{
          .guard = std::move(why->guard), .message = std::move(why->message), .is_worn_out = false};
      return ledger;
    }
    Ledger next = with_slot(ledger, slot_for(ledger, fleet, request, now));
    return treatment ? with_attempt(std::move(next), attempt) : next;
  });
  if (!status) return std::unexpected(status.error());
  return refusal;
}

Status LedgerSlots::arrived(const Remediation& remediation) {
  const BudgetLimits limits = policy_.get()->budgets;
  const std::size_t nodes = view_.fleet_size();
  return ledger_.change([&](const Ledger& ledger) -> Result<Ledger> {
    const WallTime now = clock_.wall();
    return with_new_remediation(ledger,
                                {.remediation = remediation.name,
                                 .node_uid = remediation.node_uid,
                                 .at = remediation.created.value_or(now)},
                                limits, nodes, now);
  });
}

Status LedgerSlots::give_back(const Remediation& remediation) {
  return ledger_.change([&](const Ledger& ledger) -> Result<Ledger> {
    return without_slot(ledger, remediation.name);
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
  const Fleet fleet = view_.fleet();
  const auto settled_now = ledger_.change([&](const Ledger& ledger) -> Result<Ledger> {
    return settled(ledger, roll, fleet, limits, clock_.wall());
  });
  return settled_now ? forget(*all) : settled_now;
}

// After the ledger knows that they are closed.
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
  Spending spending{
      .breaker = ledger->breaker,
      .uses = budget_uses(*ledger, view_.fleet(), policy_.get()->budgets, clock_.wall()),
      .slots = {{Harm::kCordon, 0}, {Harm::kDisrupt, 0}, {Harm::kTerminate, 0}}};
  for (const Slot& slot : ledger->slots) ++spending.slots[slot.harm];
  return spending;
}

SpentRecord spent_by(const Remediation& remediation) {
  SpentRecord record{.remediation = remediation.name,
                     .node = remediation.node,
                     .node_uid = remediation.node_uid,
                     .hardware = {.instance_id = remediation.instance_id, .serials = {}},
                     .place = {},
                     .open = remediation.open(),
                     .steps = {}};
  for (const StepRecord& step : remediation.status.steps) {
    const auto harm = harm_of(step.step);
    if (harm && step.intent_at) {
      record.steps.push_back(
          {.harm = *harm, .treatment = treatment_of(step.step), .at = *step.intent_at});
    }
  }
  return record;
}

}  // namespace gpuward::remediator
