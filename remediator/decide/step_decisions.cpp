#include <chrono>
#include <utility>

#include "core/kube/objects.h"
#include "core/runtime/clock.h"
#include "remediator/decide/draft.h"
#include "remediator/decide/maintenance.h"
#include "remediator/decide/recovery.h"
#include "remediator/decide/step_gates.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/step_facts.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

// Limit for requests of a restart that was refused or has not arrived, and the wait after a
// refusal.
constexpr int kMostRestarts = 3;
constexpr std::chrono::minutes kAfterRefusal{2};

Decision escalate(Draft& draft, const std::string& why, Severity at_least = Severity::kNone);

Gate ask_gate(Draft& draft, const PlannedStep& step) {
  Gate gate = gate_before(step, draft);
  draft.decision.step = step;
  draft.decision.approval = std::move(gate.approval);
  draft.decision.withdraws_approval = gate.withdraws_approval;
  draft.decision.look_again = gate.look_again;
  return gate;
}

Decision wait_at(Draft& draft, Gate gate) {
  return conclude(draft, Verdict::kHold, Phase::kWaiting, std::move(gate.rule),
                  std::move(gate.message));
}

Decision begin_step(Draft& draft, const PlannedStep& step) {
  Gate gate = ask_gate(draft, step);
  if (gate.verdict == Verdict::kEscalate) return escalate(draft, gate.message);
  if (gate.verdict == Verdict::kHold) return wait_at(draft, std::move(gate));
  if (const MachineProofs* proofs = draft.asked.known_proofs())
    draft.decision.reasons.push_back("proofs: " + to_text(*proofs, draft.now));
  return conclude(draft, Verdict::kBegin, phase_of(step.step),
                  "step." + std::string(to_string(step.step)),
                  std::string(to_string(step.step)) + " for severity " +
                      std::string(to_string(draft.remediation.acted_severity())));
}

Decision escalate(Draft& draft, const std::string& why, Severity at_least) {
  if (draft.remediation.is_drill())
    return hold_exhausted(draft, why + "; a drill does not escalate");
  // During maintenance an operator decides, because the steps of a severity are for reported
  // faults.
  if (is_maintenance(draft.policy, draft.remediation)) return hold_for_operator(draft, why);
  const auto worse = worse_with_steps(draft.policy, draft.remediation.acted_severity(), at_least);
  if (!worse) return hold_for_operator(draft, why);
  draft.decision.escalate_to = worse;
  draft.decision.look_again = std::chrono::milliseconds(0);
  return conclude(draft, Verdict::kEscalate, Phase::kQuarantined, "escalation",
                  why + "; escalated to severity " + std::string(to_string(*worse)));
}

// Returns the node after its diagnostics. The diagnostics may be some time ago, so a report must
// show that the node is healthy now.
Decision return_by_recovery(Draft& draft, const PlannedStep& step) {
  const std::string passed = "the node has passed its diagnostics";
  const std::string rule = "recovery";
  draft.decision.look_again = kReportInterval;
  if (draft.remediation.any_firing())
    return hold_exhausted(draft, passed + ", but an alert is firing");
  if (Gate gate = ask_gate(draft, step); gate.verdict == Verdict::kHold)
    return wait_at(draft, std::move(gate));
  if (const auto gate = gate_before_return(draft)) {
    draft.decision.look_again = gate->look_again;
    return hold_exhausted(draft, passed + ", but " + gate->message);
  }
  return conclude(draft, Verdict::kRelease, Phase::kReleased, rule,
                  passed + " and a newer report of the same boot says that it is healthy");
}

Decision go_back(Draft& draft, const PlannedStep& step, const std::string& why) {
  const Severity severity = draft.remediation.acted_severity();
  draft.decision.reasons.push_back(
      why + "; policy recovery." + std::string(to_string(severity)) + of_pool(draft) + ": " +
      step_names(recovery_of(draft.policy, draft.policy.pool, severity)));
  return step.step == Step::kReturn ? return_by_recovery(draft, step) : begin_step(draft, step);
}

Decision take_without_alerts(Draft& draft, const PlannedStep& step) {
  const bool goes_on =
      may_be_no_end(draft) && is_confirmed(draft, draft.remediation.evidence_severity());
  return goes_on ? begin_step(draft, step) : decide_ended(draft);
}

// Requests a restart again, through all guards and only a few times. reboot_action.h says when this
// is safe.
Decision restart_again(Draft& draft, const PlannedStep& step, const StepRecord& record,
                       const std::string& what) {
  const bool is_refused = call_of(record) == Call::kNone;
  const bool is_held = draft.remediation.status.phase == Phase::kHeld;
  const bool is_known = value_at(record.facts, kInstanceFact) == draft.inputs.node->provider_id;
  if (is_held || record.attempts >= kMostRestarts || !is_known)
    return hold_for_operator(draft, what);
  if (!is_refused && !is_ready(*draft.inputs.node)) return hold_for_operator(draft, what);
  // The restart has happened after all.
  if (!is_refused && value_at(record.facts, kBootBeforeFact) != draft.inputs.node->boot_id)
    return watch_step(draft, step);
  const WallTime again = record.finished_at.value_or(draft.now) + kAfterRefusal;
  if (is_refused && draft.now < again) {
    draft.decision.look_again = std::chrono::ceil<std::chrono::milliseconds>(again - draft.now);
    return conclude(draft, Verdict::kHold, Phase::kWaiting, "step.reboot",
                    what + "; retry at " + to_rfc3339(again));
  }
  return draft.remediation.any_firing() ? begin_step(draft, step)
                                        : take_without_alerts(draft, step);
}

// Returns what follows if the fault is back after the verification, or if a failed diagnostic keeps
// the node out of service; nullopt if neither is true.
std::optional<Decision> not_healed(Draft& draft) {
  const bool is_maintained = is_maintenance(draft.policy, draft.remediation);
  if (!is_maintained && has_reason(draft)) return escalate(draft, "the alerts are firing again");
  const bool is_due =
      !is_maintained ||
      (!has_reason(draft) && standing_announcements(draft.policy, draft.inputs).empty());
  // The diagnostic may belong to another severity or plan than the present one.
  const StepRecord* failed = diagnostic_in_the_way(draft);
  if (failed == nullptr || !is_due) return std::nullopt;
  return hold_exhausted(draft,
                        failure_text(*failed) + ", and no restart or reset preceded this step");
}

// Returns the node, or waits as any step does. The policy may require an operator's approval before
// the return.
Decision return_to_service(Draft& draft, const PlannedStep& step) {
  if (auto first = not_healed(draft)) return *std::move(first);
  if (Gate gate = ask_gate(draft, step); gate.verdict == Verdict::kHold)
    return wait_at(draft, std::move(gate));
  const std::string rule = "step.return-to-service";
  if (const auto gate = gate_before_return(draft)) {
    draft.decision.look_again = gate->look_again;
    return conclude(draft, Verdict::kHold, Phase::kWaiting, rule,
                    "return-to-service waits: " + gate->message);
  }
  return conclude(draft, Verdict::kRelease, Phase::kReleased, rule,
                  "the node has been healthy long enough");
}

}  // namespace

std::string step_names(const std::vector<PlannedStep>& plan) {
  if (plan.empty()) return "nothing";
  std::string text;
  for (const PlannedStep& step : plan) {
    if (!text.empty()) text += ", ";
    text += to_string(step.step);
  }
  return text;
}

std::string of_pool(const Draft& draft) {
  return draft.policy.pool.empty() ? "" : " of pool " + draft.policy.pool;
}

Decision take_step(Draft& draft, const PlannedStep& step) {
  const StepRecord* record = counting_record(draft.remediation, step.step);
  if (record != nullptr && record->result == StepResult::kFailed)
    return after_failure(draft, step, *record);
  if (step.step == Step::kReturn) return return_to_service(draft, step);
  const bool is_verified_before =
      step.step == Step::kVerify && record != nullptr && record->result == StepResult::kDone;
  if (is_verified_before) {  // Done in another boot.
    if (auto first = not_healed(draft)) return *std::move(first);
  }
  // No disruptive step begins on a node without a firing alert.
  if (is_disruptive(step.step) && !has_reason(draft)) return take_without_alerts(draft, step);
  return begin_step(draft, step);
}

Decision watch_step(Draft& draft, PlannedStep step) {
  const Step what = step.step;
  draft.decision.step = std::move(step);
  return conclude(draft, Verdict::kWatch, phase_of(what), "step." + std::string(to_string(what)),
                  draft.remediation.status.find(what)->message);
}

// Decides after a failed step. A failed drain, and a failure that says nothing about the node, hold
// the node for an operator. A step that did not heal the node leads to a more severe step. A
// restart or an end without an accepted call proves nothing.
Decision after_failure(Draft& draft, const PlannedStep& step, const StepRecord& record) {
  const std::string what = failure_text(record);
  if (record.step == Step::kDrain || record.facts.contains(kNeedsOperatorFact))
    return hold_for_operator(draft, what);
  if (!is_of_the_machine(record.step) || call_of(record) == Call::kAccepted)
    return escalate(draft, what, step.on_failure);
  return record.step == Step::kReboot ? restart_again(draft, step, record, what)
                                      : hold_for_operator(draft, what);
}

// Holds the node for an operator, unless the policy has a recovery that continues.
Decision hold_for_operator(Draft& draft, const std::string& why) {
  const Recovery back = recovery_for(draft.policy, draft.remediation, *draft.inputs.node);
  if (back.next != nullptr) return go_back(draft, *back.next, why);
  return hold_exhausted(draft,
                        back.objection.empty() ? why : why + "; not returned: " + back.objection);
}

}  // namespace gpuward::remediator
