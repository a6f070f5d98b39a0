#include "remediator/decision/decide.h"

#include <algorithm>
#include <array>

#include "core/kube/node_ready.h"
#include "core/runtime/clock.h"
#include "remediator/actions/step_progress.h"
#include "remediator/decision/replacement.h"
#include "remediator/decision/step_order.h"
#include "remediator/decision/way_back.h"
#include "remediator/guards/human_override.h"
#include "remediator/guards/konduktor_taint.h"
#include "remediator/model/history_alerts.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/ownership.h"
#include "remediator/model/step_call.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;

constexpr std::array<std::string_view, 14> kVerdicts = {
    "record",   "quarantine", "hold",  "pause",    "ask-report", "ask-alerts", "ask-guard",
    "ask-slot", "begin",      "watch", "escalate", "lower",      "release",    "close"};
constexpr seconds kReportInterval{15};            // how often a node that may return is looked at
constexpr seconds kCordonInterval{15};            // how often a cordon that waits for its slot is
constexpr seconds kLongestExclusionInterval{60};  // a human may take it back
constexpr std::size_t kNamedAlerts = 8;
// How often a restart is asked for that was refused or has not arrived, and how soon after a
// refusal.
constexpr int kMostRestarts = 3;
constexpr std::chrono::minutes kAfterRefusal{2};
constexpr std::chrono::minutes kProofInterval{1};

std::string words(const std::vector<PlannedStep>& plan) {
  if (plan.empty()) return "nothing";
  std::string text;
  for (const PlannedStep& step : plan) {
    if (!text.empty()) text += ", ";
    text += to_string(step.step);
  }
  return text;
}

// Empty where there is none of that name.
std::string fact_in(const StepRecord& record, const std::string& name) {
  const auto found = record.facts.find(name);
  return found == record.facts.end() ? std::string() : found->second;
}

std::vector<Step> marks_of(const std::vector<PlannedStep>& plan) {
  std::vector<Step> marks;
  for (const PlannedStep& step : plan) {
    if (is_mark(step.step)) marks.push_back(step.step);
  }
  return marks;
}

bool contains(const std::vector<Step>& steps, Step step) {
  return std::find(steps.begin(), steps.end(), step) != steps.end();
}

// One decision in the making: guards first, in order; the first that speaks wins.
class Decider {
 public:
  Decider(const Policy& policy, const World& world, WallTime now)
      : policy_(policy), world_(world), remediation_(world.remediation), now_(now) {}

  Decision run() {
    add_evidence();
    if (remediation_.status.has_done(Step::kTerminate)) return after_the_end();
    if (auto end = machine_is_ending()) return watch(std::move(*end));
    if (const char* gone = node_is_another()) return decide_without_node(gone);
    if (!world_.goes_first.empty()) return decide_beside();
    if (was_released()) {
      return close(Phase::kReleased, "return_to_service", "what was ours is off the node again");
    }
    if (remediation_.deleting) return take_off("the remediation is being deleted");
    if (remediation_.wish.cancel) return take_off("cancelled by annotation");
    if (remediation_.wish.machine_replaced && rests_on_history(remediation_))
      return take_off("a human says that the machine was replaced");
    if (const auto why = exclusion_of(policy_, *world_.node)) return keep_off("excluded", *why);
    if (world_.excluded) return keep_off_for_a_while(*world_.excluded);
    if (world_.node->meta.deleting) {
      return keep_off("guard.node-deleting", "the node is being deleted");
    }
    if (const auto what = human_override(remediation_, *world_.node); what && !is_paused()) {
      decision_.cordon_is_gone = !world_.node->unschedulable;
      return verdict(Verdict::kPause, Phase::kPaused, "guard.human", *what + ": hands off");
    }
    // Before the annotation: else the two would take turns, and a hand's word be forgotten.
    if (is_paused()) return decide_paused();
    if (remediation_.wish.pause) {
      return verdict(Verdict::kPause, Phase::kPaused, std::string(kPauseRule),
                     "paused by annotation: hands off");
    }
    if (const auto what = unexplained_marks()) return hold_marks(*what);
    if (auto step = step_under_way(policy_, remediation_)) {
      // A machine that restarts or ends is looked at in any mode: that changes nothing.
      if (is_of_the_machine(step->step) || allows(policy_.mode, step->step))
        return watch(std::move(*step));
    }
    if (has_begun(remediation_) || remediation_.any_firing()) return decide_standing();
    return decide_without_alerts();
  }

 private:
  void add_evidence() {
    std::size_t named = 0;
    for (const AlertEvidence& alert : remediation_.alerts) {
      if (named++ == kNamedAlerts) break;
      decision_.reasons.push_back((alert.foreign ? "foreign alert " : "alert ") + alert.alertname +
                                  (alert.firing() ? " fires" : " has ended") + ", severity " +
                                  std::string(to_string(alert.severity)));
    }
  }

  const char* node_is_another() const {
    if (world_.node == nullptr) return "the node is gone";
    if (world_.node->meta.uid != remediation_.node_uid)
      return "a new node has taken the node's name";
    return nullptr;
  }

  // The node goes with its machine: then there is nothing but to see that both are gone.
  std::optional<PlannedStep> machine_is_ending() const {
    auto step = step_under_way(policy_, remediation_);
    if (!step || step->step != Step::kTerminate) return std::nullopt;
    const bool node_goes = node_is_another() != nullptr || world_.node->meta.deleting;
    return node_goes ? step : std::nullopt;
  }

  // The machine registers again: whatever was accepted, it has not ended.
  bool is_back(const StepRecord& end) const {
    return world_.node != nullptr && world_.node->provider_id == fact_in(end, kInstanceFact);
  }

  // An end that was accepted is seen to its end, be it after its time: it is told, and waited for.
  Decision decide_without_node(const char* gone) {
    const StepRecord* end = remediation_.status.find(Step::kTerminate);
    if (end == nullptr || call_of(*end) != Call::kAccepted || is_back(*end))
      return close_without_node(gone, end);
    if (remediation_.wish.cancel || remediation_.deleting)
      return close(Phase::kCancelled, "guard.cancel", "cancelled; its machine was asked to end");
    if (remediation_.status.phase == Phase::kHeld) return watch(planned(Step::kTerminate));
    decision_.look_again = kProofInterval;
    return verdict(Verdict::kHold, Phase::kHeld, "exhausted",
                   std::string(gone) +
                       ", and nothing proves that its machine has ended, as was "
                       "accepted: " +
                       end->message);
  }

  // What is on the node is the other one's.
  Decision decide_beside() {
    const std::string first = world_.goes_first + " is open for the same node";
    if (remediation_.deleting || remediation_.wish.cancel) {
      return verdict(Verdict::kClose, Phase::kCancelled, "guard.cancel",
                     "cancelled; nothing on the node is touched: " + first);
    }
    return verdict(Verdict::kHold, Phase::kWaiting, "guard.one-per-node",
                   first + ", and acts: this one waits until that is closed");
  }

  Decision close_without_node(const char* gone, const StepRecord* end) {
    const std::string why = end == nullptr ? "" : "; terminate failed: " + end->message;
    return close(Phase::kSuperseded, "guard.node-identity", gone + why);
  }

  // Whatever a cache still has of the node: it is gone.
  Decision after_the_end() {
    Decision next = decide_after_the_end(policy_, remediation_);
    decision_.step = std::move(next.step);
    return verdict(next.verdict, next.phase, std::move(next.rule), std::move(next.message));
  }

  // A pause by annotation ends with the annotation; what a human has undone by hand stays undone.
  bool is_paused() const {
    return remediation_.status.phase == Phase::kPaused && remediation_.status.rule != kPauseRule;
  }

  Phase standing_phase() const {
    const Phase phase = remediation_.status.phase;
    return phase == Phase::kPaused || phase == Phase::kHeld ? phase : Phase::kQuarantined;
  }

  bool ours_on_node() const {
    return has_marks(*world_.node) || is_own_cordon(remediation_, *world_.node);
  }

  bool was_released() const {
    return may_be_returned(remediation_, *world_.node) && !remediation_.any_firing() &&
           !is_cordon_unknown();
  }

  // All of ours may be off, and the cordon another one; or annotation and taint were taken off by
  // hand, and the cordon is the one that the record knows.
  bool is_cordon_unknown() const {
    const RemediationStatus& status = remediation_.status;
    return world_.node->unschedulable && status.has_done(Step::kCordon) &&
           status.pre_existing_cordon == false && !status.has_done(Step::kReturn);
  }

  // What record and node do not explain; nullopt where they agree.
  std::optional<std::string> unexplained_marks() const {
    if (is_paused()) return std::nullopt;  // an operator was notified already
    if (auto what = disagreement(remediation_, *world_.node)) return what;
    if (remediation_.has_orphaned_marks()) {
      return "the node has " + marks_text(*world_.node) +
             ", and no open remediation had put it there";
    }
    const bool has_ended = may_be_returned(remediation_, *world_.node) && is_cordon_unknown();
    if (!has_ended || remediation_.any_firing()) return std::nullopt;
    return "taint and annotation are gone, and it is unknown whose the cordon is";
  }

  // Nothing is guessed: what stands stays until an operator decides. A node that has to leave
  // service and was not tainted yet is tainted all the same; where its cordon may be ours the mark
  // says nothing of that.
  Decision hold_marks(const std::string& what) {
    const Severity severity = remediation_.acted_severity();
    const std::vector<Step> marks = marks_of(steps_for(policy_, severity));
    const bool is_new = !remediation_.status.has_done(Step::kTaint);
    if (is_new && remediation_.any_firing() && contains(marks, Step::kTaint) &&
        !our_taint_on(*world_.node)) {
      const bool is_unclear = has_unclear_cordon(remediation_, *world_.node);
      Decision put = put_marks(is_unclear ? std::vector{Step::kTaint} : marks,
                               "severities." + std::string(to_string(severity)), what);
      if (put.verdict != Verdict::kHold) return put;
      return held_for_marks(put.message);  // the taint has no budget: notified now
    }
    return held_for_marks(what);
  }

  Decision held_for_marks(const std::string& what) {
    return verdict(Verdict::kPause, Phase::kHeld, std::string(kMarksRule),
                   what +
                       ": nothing is changed until an operator cancels: that takes off taint "
                       "and annotation, and the cordon only if record and annotation prove it");
  }

  Decision verdict(Verdict what, Phase phase, std::string rule, std::string message) {
    decision_.verdict = what;
    decision_.phase = phase;
    decision_.rule = std::move(rule);
    decision_.message = std::move(message);
    decision_.reasons.push_back(decision_.message);
    return decision_;
  }

  Decision close(Phase phase, std::string rule, std::string message) {
    const bool is_same = node_is_another() == nullptr;
    // Whoever cordons after this does so for reasons of their own.
    decision_.cordon_is_gone = is_same && !world_.node->unschedulable &&
                               remediation_.status.pre_existing_cordon.has_value();
    return verdict(Verdict::kClose, phase, std::move(rule), std::move(message));
  }

  // Nothing is done; the phase says whether something of ours stands.
  Decision keep_off(std::string rule, const std::string& why) {
    if (const auto what = unexplained_marks()) return held_for_marks(*what);
    if (!ours_on_node() && !remediation_.any_firing()) return ended_without_trace();
    if (ours_on_node() || is_paused()) {
      return verdict(Verdict::kHold, standing_phase(), std::move(rule),
                     why + ": what stands stays");
    }
    return verdict(Verdict::kRecord, Phase::kObserved, std::move(rule), why + ": recorded only");
  }

  Decision keep_off_for_a_while(const HandsOff& excluded) {
    if (excluded.until - now_ < kLongestExclusionInterval) {
      decision_.look_again = std::chrono::ceil<std::chrono::milliseconds>(excluded.until - now_);
    } else {
      decision_.look_again = kLongestExclusionInterval;
    }
    return keep_off("excluded", excluded.why);
  }

  Decision ended_without_trace() {
    return close(Phase::kEnded, "alerts.ended", "the alerts ended; nothing of ours is on the node");
  }

  Decision decide_paused() {
    if (!remediation_.any_firing() && !ours_on_node()) return ended_without_trace();
    // Whoever cordons after this does so for reasons of their own.
    decision_.cordon_is_gone = !world_.node->unschedulable;
    return verdict(Verdict::kHold, Phase::kPaused, "guard.human", remediation_.status.message);
  }

  // The last end was no end before: as long as the report says what the alert said, it goes on.
  Decision decide_without_alerts() {
    const Severity severity = remediation_.evidence_severity();
    if (!remediation_.is_end_contested(severity)) return decide_ended();
    if (!world_.report) {
      return verdict(Verdict::kAskReport, standing_phase(), "alerts.contested",
                     "an alert ended that had not ended before when it was said so");
    }
    return is_confirmed(severity) ? decide_standing() : decide_ended();
  }

  bool is_confirmed(Severity severity) const {
    return *world_.report &&
           !objection_to_harm(**world_.report, *world_.node, severity,
                              {.after = {}, .max_age = policy_.max_evidence_age, .now = now_});
  }

  // The operator who cancels expects the cordon to go, and was not told yet that it stays.
  bool leaves_cordon_unsaid() const {
    const RemediationStatus& status = remediation_.status;
    const bool goes_on = status.phase == Phase::kHeld && status.rule == "guard.cancel";
    return world_.node->unschedulable && !is_own_cordon(remediation_, *world_.node) &&
           status.rule != kMarksRule && !goes_on;
  }

  // What is ours goes off the node, whatever the alerts say.
  Decision take_off(const std::string& why) {
    if (!ours_on_node() && !has_unclear_cordon(remediation_, *world_.node))
      return close(Phase::kCancelled, "guard.cancel", why);
    if (const auto what = unexplained_marks(); what && leaves_cordon_unsaid()) {
      decision_.look_again = std::chrono::milliseconds(0);
      return held_for_marks(*what);
    }
    return verdict(Verdict::kRelease, Phase::kCancelled, "guard.cancel", why);
  }

  // The marks first, then step by step.
  Decision decide_standing() {
    if (auto lower = lower_severity()) return *std::move(lower);
    const Severity severity = remediation_.acted_severity();
    const std::string rule = "severities." + std::string(to_string(severity));
    const std::vector<PlannedStep> plan = steps_for(policy_, severity);
    decision_.reasons.push_back("policy " + rule + of_pool() + " in mode " +
                                std::string(to_string(policy_.mode)) + ": " + words(plan));
    // That was said to be held for an operator, and a policy that was changed since is none.
    const StepRecord* end = counting_record(remediation_, Step::kTerminate);
    const bool has_failed_end = end != nullptr && end->result == StepResult::kFailed;
    if (plan.empty()) {
      if (has_failed_end && ours_on_node()) return after_failure(planned(Step::kTerminate), *end);
      if (ours_on_node()) {
        return verdict(Verdict::kHold, Phase::kQuarantined, rule, "what stands stays");
      }
      return verdict(Verdict::kRecord, Phase::kObserved, rule, record_only_message());
    }
    const std::vector<Step> marks = marks_of(plan);
    if (contains(marks, Step::kCordon) && cordoned_by_others()) {
      decision_.reasons.emplace_back(
          "the node was cordoned by somebody else before: that cordon stays");
    }
    if (is_contradictory(remediation_) && rests_on_history(remediation_) && marks_stand(marks)) {
      return held(
          "the machine contradicts what is known of it: one sign says that it was given up, "
          "another that it is a different one; it returns once a fresh report says that it is "
          "healthy, or after gpuward-remediator machine-replaced " +
          remediation_.node);
    }
    const PlannedStep* next = next_step(plan, remediation_);
    if (!marks_stand(marks) || (next == nullptr && !has_begun(remediation_))) {
      if (next != nullptr) decision_.look_again = std::chrono::milliseconds(0);
      return put_marks(marks, rule,
                       "severity " + std::string(to_string(severity)) + ": " + words(plan));
    }
    if (is_on_way_back(policy_, remediation_))
      return hold_for_a_human("the policy's steps have ended");
    if (has_failed_end) return after_failure(planned(Step::kTerminate), *end);
    if (next != nullptr) return take(*next);
    if (plan.size() < plan_of(policy_, policy_.pool, severity).size()) {
      return verdict(Verdict::kHold, Phase::kWaiting, "mode",
                     "mode " + std::string(to_string(policy_.mode)) + " takes no further step");
    }
    return hold_for_a_human("the policy's steps are done" + failures());
  }

  // What treats or tests the machine is seen to its end, and a node that is held waits for its
  // operator, as they were decided.
  bool may_lower() const {
    const auto treats = [&](const StepRecord& record) {
      return record.severity == remediation_.acted_severity() &&
             (record.step == Step::kGpuReset || is_of_the_machine(record.step));
    };
    return remediation_.firing_severity() < remediation_.evidence_severity() &&
           !remediation_.may_have_dropped(now_) && !needs_human(remediation_.status.phase) &&
           !is_on_way_back(policy_, remediation_) &&
           std::ranges::none_of(remediation_.status.steps, treats);
  }

  // When the last of the alerts ended that are worse than those that fire.
  WallTime worse_ended_at() const {
    WallTime last{};
    for (const AlertEvidence& alert : remediation_.alerts) {
      if (alert.ended_at && alert.severity > remediation_.firing_severity())
        last = std::max(last, *alert.ended_at);
    }
    return last;
  }

  // Where what raised the severity has ended and a fresh report says that it is over, what is left
  // is acted on. A node of which nothing is left is returned, by other rules.
  std::optional<Decision> lower_severity() {
    if (!may_lower()) return std::nullopt;
    const Severity raised = remediation_.evidence_severity();
    if (!world_.report) {
      return verdict(Verdict::kAskReport, remediation_.status.phase, "severity",
                     "an alert ended; is what it said over?");
    }
    const auto& report = *world_.report;
    const HealthDemand demand{.after = worse_ended_at(),
                              .max_age = policy_.return_to_service.max_report_age,
                              .now = now_};
    if (!report || objection_to_clearing(*report, *world_.node, raised, demand))
      return std::nullopt;
    const Severity left = std::max(remediation_.firing_severity(), report->severity);
    if (steps_for(policy_, left).empty()) return std::nullopt;
    decision_.cleared = Cleared{.severity = left, .at = report->measured_at};
    decision_.look_again = std::chrono::milliseconds(0);
    const Phase phase = ours_on_node() ? Phase::kQuarantined : remediation_.status.phase;
    return verdict(Verdict::kLower, phase, "severity",
                   "severity " + std::string(to_string(raised)) +
                       " is over: its alerts ended and a newer report says " +
                       std::string(to_string(report->severity)) + "; severity " +
                       std::string(to_string(left)) + " from now on");
  }

  std::string of_pool() const { return policy_.pool.empty() ? "" : " of pool " + policy_.pool; }

  // What a human has to know of the steps before an escalation.
  std::string failures() const {
    std::string text;
    for (const StepRecord& record : remediation_.status.steps) {
      if (record.result != StepResult::kFailed) continue;
      text += ", after " + std::string(to_string(record.step)) + " failed: " + record.message;
    }
    return text;
  }

  // Taint and cordon have budgets of their own: where the cordon has to wait the taint goes on, and
  // where the taint has to wait nothing does. What went on once is not asked for again.
  Decision put_marks(std::vector<Step> marks, std::string rule, std::string message) {
    const bool is_new_taint = contains(marks, Step::kTaint) && !our_taint_on(*world_.node) &&
                              !remediation_.status.has_done(Step::kTaint);
    const bool is_new_cordon = contains(marks, Step::kCordon) && !world_.node->unschedulable &&
                               !remediation_.status.has_done(Step::kCordon);
    if ((is_new_taint || is_new_cordon) && !world_.slot) {
      decision_.step = planned(is_new_cordon ? Step::kCordon : Step::kTaint);
      return verdict(Verdict::kAskSlot, Phase::kQuarantined, rule, std::move(message));
    }
    if (is_new_taint || is_new_cordon) {
      if (const auto refusal = slot_refused()) {
        decision_.look_again = kCordonInterval;
        if (is_new_taint && !refusal->has_taint) {
          return verdict(Verdict::kHold, Phase::kWaiting, refusal->guard,
                         message + "; nothing is put on the node: " + refusal->message);
        }
        rule = refusal->guard;
        message += "; the cordon waits: " + refusal->message;
        std::erase(marks, Step::kCordon);
        if (marks.empty())
          return verdict(Verdict::kHold, Phase::kWaiting, std::move(rule), std::move(message));
      }
    }
    decision_.steps = std::move(marks);
    return verdict(Verdict::kQuarantine, Phase::kQuarantined, rule, std::move(message));
  }

  std::optional<SlotRefusal> slot_refused() const {
    if (*world_.slot) return **world_.slot;
    return SlotRefusal{.guard = "budget.ledger", .message = "the budgets cannot be read"};
  }

  Decision take(const PlannedStep& step) {
    const StepRecord* record = counting_record(remediation_, step.step);
    if (record != nullptr && record->result == StepResult::kFailed)
      return after_failure(step, *record);
    if (step.step == Step::kReturn) return return_to_service(step);
    // Nothing is taken away from a node that nobody complains about any more.
    if (is_disruptive(step.step) && !remediation_.any_firing()) return take_without_alerts(step);
    return begin(step);
  }

  Decision take_without_alerts(const PlannedStep& step) {
    const Severity severity = remediation_.evidence_severity();
    const bool goes_on =
        remediation_.is_end_contested(severity) && (!world_.report || is_confirmed(severity));
    return goes_on ? begin(step) : decide_ended();
  }

  Gate ask_gate(const PlannedStep& step) {
    Gate gate = gate_before(step, policy_, world_, now_);
    decision_.step = step;
    decision_.approval = std::move(gate.approval);
    decision_.withdraws_approval = gate.withdraws_approval;
    decision_.look_again = gate.look_again;
    return gate;
  }

  Decision wait_at(Gate gate) {
    return verdict(Verdict::kHold, Phase::kWaiting, std::move(gate.rule), std::move(gate.message));
  }

  Decision begin(const PlannedStep& step) {
    Gate gate = ask_gate(step);
    if (gate.verdict == Verdict::kEscalate) return escalate(gate.message);
    if (gate.verdict == Verdict::kHold) return wait_at(std::move(gate));
    return verdict(gate.verdict, phase_of(step.step), "step." + std::string(to_string(step.step)),
                   std::string(to_string(step.step)) + " for severity " +
                       std::string(to_string(remediation_.acted_severity())));
  }

  Decision watch(PlannedStep step) {
    const Step what = step.step;
    decision_.step = std::move(step);
    return verdict(Verdict::kWatch, phase_of(what), "step." + std::string(to_string(what)),
                   remediation_.status.find(what)->message);
  }

  // A failed drain goes no further, nor does what has failed for a reason that is not the node's;
  // what did not heal the node is followed by what is worse. A machine that nobody is known to have
  // accepted the restart or the end of has shown nothing.
  Decision after_failure(const PlannedStep& step, const StepRecord& record) {
    const std::string what = std::string(to_string(record.step)) + " failed: " + record.message;
    if (record.step == Step::kDrain || record.facts.contains(kNeedsHumanFact))
      return hold_for_a_human(what);
    if (!is_of_the_machine(record.step) || call_of(record) == Call::kAccepted)
      return escalate(what);
    return record.step == Step::kReboot ? restart_again(step, record, what)
                                        : hold_for_a_human(what);
  }

  // Where that is provably safe (reboot_action.h says when), through all guards, a few times.
  Decision restart_again(const PlannedStep& step, const StepRecord& record,
                         const std::string& what) {
    const bool is_refused = call_of(record) == Call::kNone;
    const bool is_held = remediation_.status.phase == Phase::kHeld;
    const bool is_known = fact_in(record, kInstanceFact) == world_.node->provider_id;
    if (is_held || record.attempts >= kMostRestarts || !is_known) return hold_for_a_human(what);
    if (!is_refused && !is_ready(*world_.node)) return hold_for_a_human(what);
    // It has happened after all.
    if (!is_refused && fact_in(record, kBootBeforeFact) != world_.node->boot_id) return watch(step);
    const WallTime again = record.finished_at.value_or(now_) + kAfterRefusal;
    if (is_refused && now_ < again) {
      decision_.look_again = std::chrono::ceil<std::chrono::milliseconds>(again - now_);
      return verdict(Verdict::kHold, Phase::kWaiting, "step.reboot",
                     what + "; it is asked for again at " + to_rfc3339(again));
    }
    return remediation_.any_firing() ? begin(step) : take_without_alerts(step);
  }

  Decision escalate(const std::string& why) {
    const auto worse = worse_with_steps(policy_, remediation_.acted_severity());
    if (!worse) return hold_for_a_human(why);
    decision_.escalate_to = worse;
    decision_.look_again = std::chrono::milliseconds(0);
    return verdict(Verdict::kEscalate, Phase::kQuarantined, "escalation",
                   why + "; severity " + std::string(to_string(*worse)) + " from now on");
  }

  // Where the policy has a way back for the node, that comes first.
  Decision hold_for_a_human(const std::string& why) {
    const WayBack back = way_back_for(policy_, remediation_, *world_.node);
    if (back.next != nullptr) return go_back(*back.next, why);
    return held(back.objection.empty() ? why : why + "; no way back: " + back.objection);
  }

  Decision go_back(const PlannedStep& step, const std::string& why) {
    const Severity severity = remediation_.acted_severity();
    decision_.reasons.push_back(why + "; policy way_back." + std::string(to_string(severity)) +
                                of_pool() + ": " +
                                words(way_back_of(policy_, policy_.pool, severity)));
    return step.step == Step::kReturn ? return_by_way_back(step) : begin(step);
  }

  // What the node has passed may be some time ago: the report has to say now that it is well.
  Decision return_by_way_back(const PlannedStep& step) {
    const std::string passed = "the node has passed its diagnostics";
    const std::string rule = "way_back";
    decision_.look_again = kReportInterval;
    if (remediation_.any_firing()) return held(passed + ", but an alert fires");
    if (const auto why = dropped_objection()) return held(passed + ", but " + *why);
    if (Gate gate = ask_gate(step); gate.verdict == Verdict::kHold) return wait_at(std::move(gate));
    decision_.look_again = kReportInterval;
    if (!world_.report) return verdict(Verdict::kAskReport, Phase::kVerifying, rule, passed);
    if (const auto objected = objection()) return held(passed + ", but " + *objected);
    decision_.look_again.reset();
    return verdict(Verdict::kRelease, Phase::kReleased, rule,
                   passed + " and a newer report of the same boot says that it is well");
  }

  Decision held(const std::string& why) {
    return verdict(Verdict::kHold, Phase::kHeld, "exhausted",
                   why + ": the node is held until a human returns it or cancels");
  }

  // It waits as any step does: the policy may want a human's yes before a node goes back.
  Decision return_to_service(const PlannedStep& step) {
    if (remediation_.any_firing()) return escalate("the alerts fire again");
    if (Gate gate = ask_gate(step); gate.verdict == Verdict::kHold) return wait_at(std::move(gate));
    const std::string rule = "step.return-to-service";
    if (const auto why = dropped_objection())
      return verdict(Verdict::kHold, Phase::kWaiting, rule, "return-to-service waits: " + *why);
    // By then the verification may be long ago.
    if (step.before != WaitBefore()) {
      decision_.look_again = kReportInterval;
      if (!world_.report)
        return verdict(Verdict::kAskReport, Phase::kWaiting, rule, "is the node still well?");
      if (const auto why = objection())
        return verdict(Verdict::kHold, Phase::kWaiting, rule, "return-to-service waits: " + *why);
      decision_.look_again.reset();
    }
    return verdict(Verdict::kRelease, Phase::kReleased, rule, "the node looked well long enough");
  }

  // Whether taint and cordon are on the node as the severity that is acted on wants them.
  bool marks_stand(const std::vector<Step>& marks) const {
    const std::string value(to_string(remediation_.acted_severity()));
    const bool is_short = lacks_konduktor_taint(policy_, remediation_, *world_.node);
    return std::all_of(marks.begin(), marks.end(), [&](Step mark) {
      const bool is_there = mark == Step::kTaint ? our_taint_on(*world_.node) == value && !is_short
                                                 : world_.node->unschedulable;
      return is_there && remediation_.status.has_done(mark);
    });
  }

  std::string record_only_message() const {
    if (remediation_.severity == Severity::kMonitor) return "severity monitor is recorded only";
    const auto& plan = plan_of(policy_, policy_.pool, remediation_.acted_severity());
    if (plan.empty()) return "the policy has no steps for this severity";
    return "mode " + std::string(to_string(policy_.mode)) + ": would do " + words(plan);
  }

  bool cordoned_by_others() const {
    return world_.node->unschedulable && !is_own_cordon(remediation_, *world_.node);
  }

  // Of alerts that are not kept nobody hears the end.
  std::optional<std::string> dropped_objection() {
    if (!remediation_.may_have_dropped(now_)) return std::nullopt;
    decision_.look_again = kLongestExclusionInterval;
    return "more alerts fired than are kept: until " +
           to_rfc3339(remediation_.dropped->at + kDroppedLast) + " they may fire still";
  }

  Decision decide_ended() {
    if (!ours_on_node()) return ended_without_trace();
    const Phase phase = standing_phase();
    const std::string rule = "return_to_service";
    if (const auto why = dropped_objection())
      return verdict(Verdict::kHold, phase, rule, "the alerts ended, but " + *why);
    if (!policy_.return_to_service.enabled) {
      return verdict(Verdict::kHold, phase, rule, "the alerts ended; the policy returns no nodes");
    }
    if (!allows(policy_.mode, Step::kReturn)) {
      return verdict(Verdict::kHold, phase, rule, "the alerts ended; mode observe changes nothing");
    }
    if (!world_.report) {
      return verdict(Verdict::kAskReport, phase, rule, "the alerts ended; is the node well?");
    }
    if (const auto why = objection()) {
      decision_.look_again = kReportInterval;
      return verdict(Verdict::kHold, phase, rule, "the alerts ended, but " + *why);
    }
    return verdict(
        Verdict::kRelease, Phase::kReleased, rule,
        "the alerts ended and a newer report of the same boot says that the node is well");
  }

  std::optional<std::string> objection() const {
    if (!*world_.report)
      return "there is no health report: " + why_no_report(world_.report->error());
    return objection_to(**world_.report, *world_.node,
                        {.after = remediation_.ended_at().value_or(now_),
                         .max_age = policy_.return_to_service.max_report_age,
                         .now = now_});
  }

  const Policy& policy_;
  const World& world_;
  const Remediation& remediation_;
  WallTime now_;
  Decision decision_;
};

}  // namespace

std::string_view to_string(Verdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }

Decision decide(const Policy& policy, const World& world, WallTime now) {
  return Decider(policy, world, now).run();
}

}  // namespace gpuward::remediator
