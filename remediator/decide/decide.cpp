#include "remediator/decide/decide.h"

#include <algorithm>
#include <array>

#include "remediator/decide/draft.h"
#include "remediator/decide/guards/approval.h"
#include "remediator/decide/guards/drills.h"
#include "remediator/decide/guards/manual_change.h"
#include "remediator/decide/maintenance.h"
#include "remediator/decide/recovery.h"
#include "remediator/decide/step_gates.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/history_alerts.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/ownership.h"
#include "remediator/model/silent_alerts.h"
#include "remediator/policy/konduktor_taint.h"

namespace gpuward::remediator {
namespace {

constexpr std::array<std::string_view, 10> kVerdicts = {
    "record", "quarantine", "hold",  "pause",   "begin",
    "watch",  "escalate",   "lower", "release", "close"};
constexpr std::chrono::seconds kCordonInterval{15};  // Interval between checks of a waiting cordon.
constexpr std::size_t kNamedAlerts = 8;
std::vector<Step> taint_and_cordon_in(const std::vector<PlannedStep>& plan) {
  std::vector<Step> wanted;
  for (const PlannedStep& step : plan) {
    if (is_taint_or_cordon(step.step)) wanted.push_back(step.step);
  }
  return wanted;
}

bool contains(const std::vector<Step>& steps, Step step) {
  return std::find(steps.begin(), steps.end(), step) != steps.end();
}

// Returns whether an operator's manual change pauses the node. A pause by annotation ends with the
// annotation, but a manual change stays in force.
bool is_paused(const Draft& draft) {
  return draft.remediation.status.phase == Phase::kPaused &&
         draft.remediation.status.rule != kPauseRule;
}

// Returns whether the owner of the cordon is unknown. Either another writer set it after all of
// gpuward's changes were removed, or an operator removed annotation and taint and the cordon is the
// recorded one.
bool is_cordon_unknown(const Draft& draft) {
  const RemediationStatus& status = draft.remediation.status;
  return draft.inputs.node->unschedulable && status.has_done(Step::kCordon) &&
         status.pre_existing_cordon == false && !status.has_done(Step::kReturn);
}

bool was_released(const Draft& draft) {
  return may_be_returned(draft.remediation, *draft.inputs.node) && !has_reason(draft) &&
         !is_cordon_unknown(draft);
}

constexpr std::string_view kUnknownCordon =
    "taint and annotation are gone; cannot tell who set the cordon";

// Returns whether the cordon is unknown after a return without a known result. Either the return
// was carried out and its answer was lost, or an operator removed the annotation.
bool has_unknown_cordon(const Draft& draft) {
  return may_be_returned(draft.remediation, *draft.inputs.node) && is_cordon_unknown(draft);
}

// Returns the state that record and node do not explain; nullopt if they agree.
std::optional<std::string> unexplained_ownership(const Draft& draft) {
  if (is_paused(draft)) return std::nullopt;  // gpuward has already notified an operator.
  if (auto what = disagreement(draft.remediation, *draft.inputs.node)) return what;
  if (draft.remediation.orphaned_taints() != nullptr) {
    return "the node has " + ownership_text(*draft.inputs.node) + ", which no open remediation set";
  }
  if (!draft.inputs.left_cordon.empty()) {
    return "the node has the leftover cordon of the closed remediation " + draft.inputs.left_cordon;
  }
  if (!has_unknown_cordon(draft) || has_reason(draft)) return std::nullopt;
  return std::string(kUnknownCordon);
}

Decision held_for_ownership(Draft& draft, const std::string& what) {
  return conclude(draft, Verdict::kPause, Phase::kHeld, std::string(kOwnershipRule),
                  what +
                      ": gpuward changes nothing until an operator cancels the remediation. "
                      "`gpuwardctl cancel` removes gpuward's taint and annotation if they are "
                      "there; it removes the cordon only if the node's annotation and the "
                      "Remediation show that gpuward set it");
}

std::optional<SlotRefusal> refusal_of_slot(const Draft& draft, Step step) {
  if (auto answer = draft.asked.now().slot(step)) return *std::move(answer);
  return SlotRefusal{.guard = "budget.ledger", .message = "the budgets cannot be read"};
}

// Puts taint and cordon on the node. Both have separate budgets: if the cordon has to wait, the
// taint is still set; if the taint has to wait, neither is set. Slots are requested only for
// changes that were not made before.
Decision put_taint_and_cordon(Draft& draft, std::vector<Step> wanted, std::string rule,
                              std::string message) {
  const bool is_new_taint = contains(wanted, Step::kTaint) && !our_taint_on(*draft.inputs.node) &&
                            !draft.remediation.status.has_done(Step::kTaint);
  const bool is_new_cordon = contains(wanted, Step::kCordon) && !draft.inputs.node->unschedulable &&
                             !draft.remediation.status.has_done(Step::kCordon);
  if (is_new_taint || is_new_cordon) {
    const Step changed = is_new_cordon ? Step::kCordon : Step::kTaint;
    if (const auto refusal = refusal_of_slot(draft, changed)) {
      draft.decision.look_again = kCordonInterval;
      if (is_new_taint && !refusal->has_taint) {
        const bool is_cordoned = draft.remediation.status.has_done(Step::kCordon);
        message += is_cordoned ? "; the taint waits and the cordon stays: "
                               : "; the node gets no taint or cordon: ";
        return conclude(draft, Verdict::kHold, Phase::kWaiting, refusal->guard,
                        message + refusal->message);
      }
      rule = refusal->guard;
      message += "; the cordon waits: " + refusal->message;
      std::erase(wanted, Step::kCordon);
      if (wanted.empty())
        return conclude(draft, Verdict::kHold, Phase::kWaiting, std::move(rule),
                        std::move(message));
    }
  }
  draft.decision.steps = std::move(wanted);
  return conclude(draft, Verdict::kQuarantine, Phase::kQuarantined, rule, std::move(message));
}

void add_evidence(Draft& draft) {
  std::size_t named = 0;
  for (const AlertEvidence& alert : draft.remediation.alerts) {
    if (named++ == kNamedAlerts) break;
    const std::string_view kind = alert.drill     ? "drill alert "
                                  : alert.foreign ? "foreign alert "
                                                  : "alert ";
    draft.decision.reasons.push_back(std::string(kind) + alert.alertname +
                                     (alert.firing() ? " fires" : " has ended") + ", severity " +
                                     std::string(to_string(alert.severity)));
    if (alert.fingerprint.starts_with(kSilentOrigin) && !alert.advice.empty())
      draft.decision.reasons.push_back(alert.advice);
  }
}

// Decides for a Remediation whose node belongs to another one. Taint and cordon on the node belong
// to the other Remediation.
Decision decide_beside(Draft& draft) {
  const std::string first = draft.inputs.goes_first + " is open for the same node";
  if (draft.remediation.deleting || draft.remediation.wish.cancel) {
    return conclude(draft, Verdict::kClose, Phase::kCancelled, "guard.cancel",
                    "cancelled; nothing on the node is touched: " + first);
  }
  return conclude(draft, Verdict::kHold, Phase::kWaiting, std::string(kOnePerNodeRule),
                  first + " and acts on it: this remediation waits until the other one is closed");
}

// Holds the node until an operator decides about its taint and cordon. A node that must leave
// service and has no taint yet gets the taint, but no cordon, because gpuward cannot tell the owner
// of an existing cordon.
Decision hold_for_ownership(Draft& draft, const std::string& what) {
  const Severity severity = draft.remediation.acted_severity();
  const std::vector<Step> wanted = taint_and_cordon_in(steps_for(draft.policy, severity));
  const bool is_new = !draft.remediation.status.has_done(Step::kTaint);
  if (is_new && draft.remediation.any_firing() && contains(wanted, Step::kTaint) &&
      !our_taint_on(*draft.inputs.node)) {
    Decision put = put_taint_and_cordon(draft, {Step::kTaint},
                                        "severities." + std::string(to_string(severity)), what);
    if (put.verdict == Verdict::kQuarantine) put.look_again = std::chrono::milliseconds(0);
    if (put.verdict != Verdict::kHold) return put;
    // The taint has no budget, so gpuward notifies an operator now.
    return held_for_ownership(draft, put.message);
  }
  return held_for_ownership(draft, what);
}

// Changes nothing. The phase says whether gpuward's taint or cordon is on the node.
Decision keep_off(Draft& draft, std::string rule, const std::string& why) {
  if (const auto what = unexplained_ownership(draft)) return held_for_ownership(draft, *what);
  if (!ours_on_node(draft) && !draft.remediation.any_firing()) return ended_without_trace(draft);
  if (ours_on_node(draft) || is_paused(draft)) {
    return conclude(draft, Verdict::kHold, standing_phase(draft), std::move(rule),
                    why + ": its taint and cordon stay");
  }
  return conclude(draft, Verdict::kRecord, Phase::kObserved, std::move(rule),
                  why + ": recorded only");
}

Decision keep_off_for_a_while(Draft& draft, const ExclusionHit& excluded) {
  if (excluded.until - draft.now < kLongestExclusionInterval) {
    draft.decision.look_again =
        std::chrono::ceil<std::chrono::milliseconds>(excluded.until - draft.now);
  } else {
    draft.decision.look_again = kLongestExclusionInterval;
  }
  return keep_off(draft, "excluded", excluded.why);
}

Decision decide_paused(Draft& draft) {
  if (!draft.remediation.any_firing() && !ours_on_node(draft)) return ended_without_trace(draft);
  // A later cordon is another writer's.
  draft.decision.cordon_is_gone = !draft.inputs.node->unschedulable;
  return conclude(draft, Verdict::kHold, Phase::kPaused, "guard.manual-change",
                  draft.remediation.status.message);
}

// Returns whether an operator who cancels must first learn that the cordon stays.
bool leaves_cordon_unexplained(const Draft& draft) {
  const RemediationStatus& status = draft.remediation.status;
  const bool goes_on = status.phase == Phase::kHeld && status.rule == "guard.cancel";
  return draft.inputs.node->unschedulable &&
         !is_own_cordon(draft.remediation, *draft.inputs.node) && status.rule != kOwnershipRule &&
         !goes_on;
}

// Removes gpuward's changes from the node, even if alerts fire.
Decision take_off(Draft& draft, const std::string& why) {
  auto what = unexplained_ownership(draft);
  // This check applies even if an alert fires.
  if (!what && !is_paused(draft) && has_unknown_cordon(draft)) what = kUnknownCordon;
  if (what && leaves_cordon_unexplained(draft)) {
    draft.decision.look_again = std::chrono::milliseconds(0);
    return held_for_ownership(draft, *what);
  }
  const bool is_off =
      !ours_on_node(draft) && !has_unclear_cordon(draft.remediation, *draft.inputs.node);
  Decision decision =
      is_off ? close_case(draft, Phase::kCancelled, "guard.cancel", why)
             : conclude(draft, Verdict::kRelease, Phase::kCancelled, "guard.cancel", why);
  // An operator who cancels after the report about a remaining cordon has accepted the cordon.
  decision.cordon_is_gone |= !draft.inputs.left_cordon.empty();
  return decision;
}

// Returns whether taint and cordon are on the node as the acted severity requires.
bool taint_and_cordon_stand(const Draft& draft, const std::vector<Step>& wanted) {
  const std::string value(to_string(draft.remediation.acted_severity()));
  const bool is_short = lacks_konduktor_taint(draft.policy, draft.remediation, *draft.inputs.node);
  return std::all_of(wanted.begin(), wanted.end(), [&](Step step) {
    const bool is_there = step == Step::kTaint
                              ? our_taint_on(*draft.inputs.node) == value && !is_short
                              : draft.inputs.node->unschedulable;
    return is_there && draft.remediation.status.has_done(step);
  });
}

// Returns the rule of the plan, for example "maintenance.reboot" for an announcement.
std::string rule_of_plan(const Draft& draft, Severity severity) {
  if (is_maintenance(draft.policy, draft.remediation))
    return "maintenance." + std::string(to_string(*draft.policy.announced));
  return "severities." + std::string(to_string(severity));
}

std::string record_only_message(const Draft& draft) {
  if (const std::string what = announced_text(draft.inputs); !what.empty()) {
    const auto& steps =
        plan_of(draft.policy, draft.policy.pool, draft.remediation.acted_severity());
    return what + (steps.empty() ? ": the policy has no maintenance steps for it"
                                 : ": mode " + std::string(to_string(draft.policy.mode)) +
                                       ", would run " + step_names(steps));
  }
  if (draft.remediation.severity == Severity::kMonitor) return "severity monitor is only recorded";
  const auto& plan = plan_of(draft.policy, draft.policy.pool, draft.remediation.acted_severity());
  if (plan.empty()) return "the policy has no steps for this severity";
  return "mode " + std::string(to_string(draft.policy.mode)) + ": would run " + step_names(plan);
}

bool cordoned_by_others(const Draft& draft) {
  return draft.inputs.node->unschedulable && !is_own_cordon(draft.remediation, *draft.inputs.node);
}

// Returns text for an operator with the steps that failed before an escalation.
std::string failures(const Draft& draft) {
  const RemediationStatus& status = draft.remediation.status;
  std::string text;
  for (const StepRecord& record : status.steps) {
    if (record.result != StepResult::kFailed) continue;
    text += ", after " + failure_text(record);
  }
  const bool is_refused = text.empty() && status.escalated_to && !status.history.empty();
  return is_refused ? " (" + status.history.back() + ")" : text;
}

}  // namespace

std::string_view to_string(Verdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }

std::string_view action_of(Verdict verdict) {
  if (verdict == Verdict::kQuarantine) return "quarantine";
  if (verdict == Verdict::kRelease) return "release";
  return {};
}

Decision conclude(Draft& draft, Verdict what, Phase phase, std::string rule, std::string message) {
  draft.decision.verdict = what;
  draft.decision.phase = phase;
  draft.decision.rule = std::move(rule);
  draft.decision.message = told_as(draft.decision.is_drill, std::move(message));
  draft.decision.reasons.push_back(draft.decision.message);
  return draft.decision;
}

Decision close_case(Draft& draft, Phase phase, std::string rule, std::string message) {
  const bool is_same = node_is_another(draft) == nullptr;
  // A later cordon is another writer's.
  draft.decision.cordon_is_gone = is_same && !draft.inputs.node->unschedulable &&
                                  draft.remediation.status.pre_existing_cordon.has_value();
  return conclude(draft, Verdict::kClose, phase, std::move(rule), std::move(message));
}

const char* node_is_another(const Draft& draft) {
  if (draft.inputs.node == nullptr) return "the node is gone";
  if (draft.inputs.node->meta.uid != draft.remediation.node_uid)
    return "a new node has the same name";
  return nullptr;
}

bool ours_on_node(const Draft& draft) {
  return has_our_taint_or_annotation(*draft.inputs.node) ||
         is_own_cordon(draft.remediation, *draft.inputs.node);
}

Phase standing_phase(const Draft& draft) {
  const Phase phase = draft.remediation.status.phase;
  return phase == Phase::kPaused || phase == Phase::kHeld ? phase : Phase::kQuarantined;
}

Decision hold_exhausted(Draft& draft, const std::string& why) {
  return conclude(draft, Verdict::kHold, Phase::kHeld, "exhausted",
                  why +
                      ": held for an operator. To return the node to service: gpuwardctl cancel " +
                      draft.remediation.node);
}

Decision ended_without_trace(Draft& draft) {
  return close_case(draft, Phase::kEnded, "alerts.ended",
                    "the alerts ended; the node has no gpuward taint or cordon");
}

// Decides taint and cordon first, then the further steps one by one.
Decision decide_standing(Draft& draft) {
  if (auto lower = lower_severity(draft)) return *std::move(lower);
  const Severity severity = draft.remediation.acted_severity();
  const std::string rule = rule_of_plan(draft, severity);
  const std::vector<PlannedStep> plan = steps_for(draft.policy, severity);
  draft.decision.reasons.push_back("policy " + rule + of_pool(draft) + " in mode " +
                                   std::string(to_string(draft.policy.mode)) + ": " +
                                   step_names(plan));
  // A failed terminate was reported as held for an operator. A later change of the policy does not
  // end that hold.
  const StepRecord* end = counting_record(draft.remediation, Step::kTerminate);
  const bool has_failed_end = end != nullptr && end->result == StepResult::kFailed;
  if (plan.empty()) {
    if (has_failed_end && ours_on_node(draft))
      return after_failure(draft, planned(Step::kTerminate), *end);
    if (ours_on_node(draft)) {
      return conclude(draft, Verdict::kHold, Phase::kQuarantined, rule,
                      "the node's taint and cordon stay");
    }
    return conclude(draft, Verdict::kRecord, Phase::kObserved, rule, record_only_message(draft));
  }
  const std::vector<Step> wanted = taint_and_cordon_in(plan);
  if (contains(wanted, Step::kCordon) && cordoned_by_others(draft)) {
    draft.decision.reasons.emplace_back(
        "the node was already cordoned by another controller or an operator: that cordon stays");
  }
  if (is_contradictory(draft.remediation) && rests_on_history(draft.remediation) &&
      taint_and_cordon_stand(draft, wanted)) {
    return hold_exhausted(
        draft,
        "conflicting evidence about the machine's identity: one sign says that gpuward took it out "
        "of service, another that it is a different machine. It returns to service after fresh "
        "reports show it healthy for a while, or after: gpuwardctl machine-replaced " +
            draft.remediation.node);
  }
  const PlannedStep* next = next_step(plan, draft.remediation, draft.inputs.node->boot_id);
  // gpuward puts nothing more on the node after the cloud has called off the announcement.
  const bool is_put =
      taint_and_cordon_stand(draft, wanted) || is_called_off(draft.policy, draft.remediation);
  if (!is_put || (next == nullptr && !has_begun(draft.remediation))) {
    if (next != nullptr) draft.decision.look_again = std::chrono::milliseconds(0);
    const std::string what = is_maintenance(draft.policy, draft.remediation)
                                 ? announced_text(draft.inputs)
                                 : "severity " + std::string(to_string(severity));
    return put_taint_and_cordon(draft, wanted, rule, what + ": " + step_names(plan));
  }
  if (is_in_recovery(draft.policy, draft.remediation))
    return hold_for_operator(draft, "the policy's steps have ended");
  if (has_failed_end) return after_failure(draft, planned(Step::kTerminate), *end);
  if (next != nullptr) return take_step(draft, *next);
  if (plan.size() < plan_of(draft.policy, draft.policy.pool, severity).size()) {
    return conclude(draft, Verdict::kHold, Phase::kWaiting, "mode",
                    "mode " + std::string(to_string(draft.policy.mode)) + " takes no further step");
  }
  return hold_for_operator(draft, "the policy's steps are done" + failures(draft));
}

namespace {

// Checks the guards in order. The first guard that objects decides.
Decision decide_in_order(Draft& draft) {
  add_evidence(draft);
  if (draft.remediation.status.has_done(Step::kTerminate)) return decide_after_the_end(draft);
  if (auto end = machine_is_ending(draft)) return watch_step(draft, std::move(*end));
  if (const char* gone = node_is_another(draft)) return decide_without_node(draft, gone);
  if (!draft.inputs.goes_first.empty()) return decide_beside(draft);
  if (was_released(draft)) {
    return close_case(draft, Phase::kReleased, "return_to_service", "taint and cordon removed");
  }
  if (draft.remediation.deleting) return take_off(draft, "the remediation is being deleted");
  if (draft.remediation.wish.cancel) return take_off(draft, "cancelled by annotation");
  if (draft.remediation.wish.machine_replaced && rests_on_history(draft.remediation))
    return take_off(draft, "an operator states that the machine was replaced");
  if (const auto why = exclusion_of(draft.policy, *draft.inputs.node))
    return keep_off(draft, "excluded", *why);
  if (draft.inputs.excluded) return keep_off_for_a_while(draft, *draft.inputs.excluded);
  if (const auto why = objection_to_drill(draft.remediation, *draft.inputs.node))
    return keep_off(draft, std::string(kDrillRule), *why);
  if (draft.inputs.node->meta.deleting) {
    return keep_off(draft, "guard.node-deleting", "the node is being deleted");
  }
  if (const auto what = manual_change(draft.remediation, *draft.inputs.node);
      what && !is_paused(draft)) {
    draft.decision.cordon_is_gone = !draft.inputs.node->unschedulable;
    return conclude(draft, Verdict::kPause, Phase::kPaused, "guard.manual-change",
                    *what + ": paused");
  }
  // Checked before the annotation. Otherwise the two kinds of pause would alternate, and the manual
  // change would be lost.
  if (is_paused(draft)) return decide_paused(draft);
  if (draft.remediation.wish.pause) {
    return conclude(draft, Verdict::kPause, Phase::kPaused, std::string(kPauseRule),
                    "paused by annotation");
  }
  if (const auto what = unexplained_ownership(draft)) return hold_for_ownership(draft, *what);
  if (auto step = step_under_way(draft.policy, draft.remediation)) {
    // gpuward watches a machine that restarts or ends in any mode, because watching changes
    // nothing.
    if (is_of_the_machine(step->step) || allows(draft.policy.mode, step->step))
      return watch_step(draft, std::move(*step));
  }
  // An announcement is also a reason, even if the current plan is for a fault.
  const bool is_wanted = has_reason(draft) || is_announced(draft.policy, draft.remediation);
  if (has_begun(draft.remediation) || is_wanted) return decide_standing(draft);
  return decide_without_alerts(draft);
}

// Records when gpuward first saw the approval. The hour of the approval starts then, even while its
// step waits for another gate, a pause or an exclusion.
void note_approval(const Draft& draft, Decision& decision) {
  const auto& asked = draft.remediation.status.approval;
  if (!asked || asked->seen_at || decision.approval || decision.withdraws_approval ||
      decision.escalate_to || node_is_another(draft) != nullptr)
    return;
  ApprovalAnswer answer =
      approval_of(draft.remediation, *draft.inputs.node, asked->step, draft.now);
  if (answer.is_given) decision.approval = std::move(answer.record);
}

}  // namespace

Decision decide(const Policy& policy, const DecisionInputs& inputs, Answers& answers,
                WallTime now) {
  Asked asked(answers);
  Draft draft{.policy = policy,
              .inputs = inputs,
              .remediation = inputs.remediation,
              .asked = asked,
              .now = now};
  draft.decision.is_drill = inputs.remediation.is_drill();
  Decision decision = with_lateness(draft, decide_in_order(draft));
  note_approval(draft, decision);
  return decision;
}

}  // namespace gpuward::remediator
