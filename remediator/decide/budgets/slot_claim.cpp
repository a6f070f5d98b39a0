#include "remediator/decide/budgets/slot_claim.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "core/runtime/clock.h"
#include "remediator/decide/budgets/breaker.h"
#include "remediator/model/node_mark.h"

namespace gpuward::remediator {
namespace {

// Returns whether the attempt belongs to an earlier, deleted Remediation of the same name. Not if
// this Remediation's own record has the step: its first request was checked then, and a clock
// behind the API server's must not make its own attempt another's.
bool is_of_namesake(const Attempt& known, const SlotClaim& claim) {
  const Remediation& own = claim.remediation;
  return known.remediation == own.name && own.created && known.at < *own.created &&
         own.status.find(claim.step) == nullptr;
}

// A ledger with only the attempts of namesakes.
Ledger of_namesakes(const Ledger& ledger, const SlotClaim& claim) {
  Ledger theirs;
  std::ranges::copy_if(ledger.attempts, std::back_inserter(theirs.attempts),
                       [&](const Attempt& known) { return is_of_namesake(known, claim); });
  return theirs;
}

// Other Remediations that treated the machine within kRebootLasts.
std::set<std::string> treated_by_others(const Ledger& ledger, const SlotClaim& claim,
                                        const Attempt& attempt) {
  const WallTime since = attempt.at - kRebootLasts;
  auto names = attempted_by(ledger, attempt.hardware, attempt.treatment, since);
  names.erase(attempt.remediation);
  for (const std::string& name : claim.untreated) names.erase(name);
  names.merge(
      attempted_by(of_namesakes(ledger, claim), attempt.hardware, attempt.treatment, since));
  return names;
}

std::optional<SlotRefusal> refuse_worn_out(const Ledger& ledger, SlotClaim& claim,
                                           const Attempt& attempt) {
  claim.treated_by = treated_by_others(ledger, claim, attempt);
  if (claim.treated_by.empty()) return std::nullopt;
  return SlotRefusal{
      .guard = "escalation.repeated",
      .message = std::string(to_string(attempt.treatment)) +
                 " was already done on this machine or one of its GPUs within the last 7 days",
      .is_worn_out = true};
}

// No disruptive step begins for a while on a machine that another Remediation has reset or
// restarted.
std::optional<SlotRefusal> refuse_cooling(const Ledger& ledger, const SlotClaim& claim,
                                          const Attempt& attempt) {
  const std::chrono::milliseconds cooldown = claim.policy.cooldown;
  Attempt of_nobody = attempt;
  of_nobody.remediation.clear();
  const auto last = std::max(last_treated_for_others(ledger, attempt),
                             last_treated_for_others(of_namesakes(ledger, claim), of_nobody));
  if (!last || attempt.at >= *last + cooldown) return std::nullopt;
  return SlotRefusal{
      .guard = "cooldown",
      .message = "cooldown after a repair attempt on this machine: no disruptive step before " +
                 to_rfc3339(*last + cooldown),
      .is_worn_out = false};
}

// Draino's buffer: a drain that a node condition requests waits until the last disruption was some
// time ago, so that a faulty detector does not empty the cluster.
std::optional<SlotRefusal> refuse_buffered(const Ledger& ledger, const Remediation& remediation,
                                           std::chrono::milliseconds buffer, WallTime now) {
  const bool is_of_condition =
      std::ranges::any_of(remediation.alerts, [](const AlertEvidence& alert) {
        return alert.firing() && alert.fingerprint.starts_with(kConditionOrigin);
      });
  if (!is_of_condition) return std::nullopt;
  for (const Start& start : ledger.starts) {
    if (start.remediation == remediation.name || now >= start.at + buffer) continue;
    return SlotRefusal{
        .guard = "min_drain_interval",
        .message = "rate limit: the next drain may start at " + to_rfc3339(start.at + buffer)};
  }
  return std::nullopt;
}

bool wants_taint(const SlotClaim& claim) {
  const auto plan = steps_for(claim.policy, claim.remediation.acted_severity());
  return std::ranges::find(plan, Step::kTaint, &PlannedStep::step) != plan.end();
}

std::optional<SlotRefusal> refuse(const Ledger& ledger, const Fleet& fleet,
                                  const BudgetLimits& limits, const SlotRequest& request,
                                  WallTime now) {
  auto why = refuse_slot(ledger, fleet, limits, request, now);
  if (!why) return std::nullopt;
  return SlotRefusal{.guard = std::move(why->guard), .message = std::move(why->message)};
}

// The refusals that come from earlier treatments of the machine.
std::optional<SlotRefusal> refuse_treated(const Ledger& ledger, SlotClaim& claim,
                                          const Attempt& attempt) {
  if (treatment_of(claim.step)) {
    if (auto refusal = refuse_worn_out(ledger, claim, attempt)) return refusal;
  }
  if (!is_disruptive(claim.step)) return std::nullopt;
  if (auto refusal = refuse_cooling(ledger, claim, attempt)) return refusal;
  if (claim.step != Step::kDrain) return std::nullopt;
  return refuse_buffered(ledger, claim.remediation, claim.policy.min_drain_interval, claim.now);
}

}  // namespace

std::optional<Impact> impact_of(Step step) {
  if (step == Step::kTaint) return Impact::kTaint;
  if (step == Step::kCordon) return Impact::kCordon;
  if (step == Step::kTerminate) return Impact::kTerminate;
  if (is_disruptive(step)) return Impact::kDisrupt;
  return std::nullopt;
}

std::optional<Treatment> treatment_of(Step step) {
  if (step == Step::kGpuReset) return Treatment::kReset;
  if (step == Step::kReboot) return Treatment::kReboot;
  if (step == Step::kTerminate) return Treatment::kTerminate;
  return std::nullopt;
}

std::optional<SlotRequest> slot_request(const Remediation& remediation, const kube::Node& node,
                                        Step step) {
  const auto impact = impact_of(step);
  if (!impact) return std::nullopt;
  return SlotRequest{.remediation = remediation.name,
                     .node = node.meta.name,
                     .node_uid = node.meta.uid,
                     .instance_id = node.provider_id,
                     .impact = *impact,
                     .is_tainted = our_taint_on(node).has_value()};
}

// The API server's clock may differ from this one, so a Remediation that it created just now counts
// as arriving now.
Ledger with_arrival(Ledger ledger, const Remediation& remediation, const BudgetLimits& limits,
                    std::size_t nodes, WallTime now) {
  if (!is_arrival(remediation)) return ledger;
  const WallTime made = remediation.created.value_or(now);
  const WallTime at = now - made <= kMostClockDifference ? now : made;
  return with_new_remediation(
      std::move(ledger),
      {.remediation = remediation.name, .node_uid = remediation.node_uid, .at = at}, limits, nodes,
      now);
}

Ledger with_claim(Ledger ledger, const Fleet& fleet, SlotClaim& claim) {
  const BudgetLimits& limits = claim.policy.budgets;
  ledger =
      with_arrival(std::move(ledger), claim.remediation, limits, fleet.nodes.size(), claim.now);
  const auto treatment = treatment_of(claim.step);
  const Attempt attempt{.remediation = claim.remediation.name,
                        .hardware = {.instance_id = claim.request.instance_id,
                                     .serials = claim.remediation.status.gpus},
                        .treatment = treatment.value_or(Treatment::kReset),
                        .at = claim.now};
  claim.refusal = refuse_treated(ledger, claim, attempt);
  if (claim.only_asks && claim.refusal && !claim.refusal->is_worn_out) claim.refusal.reset();
  if (claim.refusal || claim.only_asks) return ledger;
  const bool taints_first = claim.step == Step::kCordon && wants_taint(claim);
  if (taints_first) {
    SlotRequest taint = claim.request;
    taint.impact = Impact::kTaint;
    claim.refusal = refuse(ledger, fleet, limits, taint, claim.now);
    if (claim.refusal) return ledger;
    const Slot slot = slot_for(ledger, fleet, taint, claim.now);
    ledger = with_slot(std::move(ledger), slot);
  }
  claim.refusal = refuse(ledger, fleet, limits, claim.request, claim.now);
  if (claim.refusal) {
    claim.refusal->has_taint = taints_first;
    return ledger;
  }
  const Slot asked = slot_for(ledger, fleet, claim.request, claim.now);
  ledger = with_slot(std::move(ledger), asked);
  // The treatment of a drill says nothing about the machine: the next fault is not its second.
  if (!treatment || claim.remediation.is_drill()) return ledger;
  // The attempt of a namesake is too old to count and would take the place of this one.
  std::erase_if(ledger.attempts, [&](const Attempt& known) {
    return known.treatment == *treatment && is_of_namesake(known, claim);
  });
  Attempt own = attempt;  // not before its Remediation, unlike that of a namesake
  own.at = std::max(own.at, claim.remediation.created.value_or(own.at));
  return with_attempt(std::move(ledger), own);
}

}  // namespace gpuward::remediator
