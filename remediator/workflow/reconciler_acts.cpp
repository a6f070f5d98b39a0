// What the reconciler does about its decisions.
#include <functional>
#include <utility>

#include "core/kube/redo_on_conflict.h"
#include "core/runtime/clock.h"
#include "remediator/actions/action.h"
#include "remediator/actions/step_progress.h"
#include "remediator/policy/error_class.h"
#include "remediator/safety/konduktor_taint.h"
#include "remediator/workflow/reconciler.h"
#include "remediator/workflow/reconciler_case.h"
#include "remediator/workflow/status_change.h"
#include "remediator/workflow/step_order.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// What the kernel has said, and the class of the error: for people to read.
void note_evidence(const HealthReport& report, RemediationStatus& status) {
  status.kernel_severity = report.kernel_severity;
  if (is_milder_class(status.error_class, report.error_class))
    status.error_class = report.error_class;
}

// As the resource has it; empty where there is none.
std::string intent_of(const StepRecord* record) {
  return record == nullptr || !record->intent_at ? "" : to_rfc3339_ms(*record->intent_at);
}

// Of a step that goes on, how often what it says of itself is written; and of all of them, so that
// hundreds of drains leave the API server to their evictions.
constexpr milliseconds kBetweenWords{5'000};
constexpr milliseconds kBetweenWordsOfAll{200};
// The boot that a step was decided on which has not been begun yet; empty where that does not
// matter any more, or to no step.
std::string boot_decided(const StepRecord* record) {
  if (record == nullptr || record->result != StepResult::kIntended) return {};
  if (record->step != Step::kGpuReset && record->step != Step::kReboot) return {};
  const auto& fact = record->step == Step::kReboot ? kBootBeforeFact : kJobBootFact;
  const auto found = record->facts.find(fact);
  return found == record->facts.end() ? std::string() : found->second;
}

// How soon a stop that was lifted is noticed.
constexpr milliseconds kStopInterval{5'000};
// How soon it is noticed that a step need not wait any longer.
constexpr milliseconds kObstacleInterval{10'000};
// Whether the step is something else than a change of the Node.
bool has_action(Step step) { return !is_mark(step) && step != Step::kReturn; }
// Whether the step does something on the node itself, be it a Job, or to the jobs that ran there;
// the others go on without it.
bool acts_on_node(Step step) {
  return is_disruptive(step) || is_job(step) || step == Step::kRestartJob;
}
// How long ago the answers to a permit may have been asked for.
constexpr milliseconds kOldestPermit{30'000};

}  // namespace

Status Reconciler::carry_out(Case& now) {
  if (!action_of(now.decision.verdict).empty()) return act(now);
  if (now.decision.verdict == Verdict::kBegin) return begin_step(now);
  if (now.decision.verdict == Verdict::kWatch) return watch_step(now);
  // A Job would go on beside those of the next Remediation of the node.
  if (now.decision.verdict == Verdict::kClose) {
    if (auto status = abandon_steps(now, is_job); !status) return status;
  }
  const Phase before = now.remediation.status.phase;
  const auto next =
      with_decision(with_own_marks(now), now.decision, now.policy->mode, parts_.clock.wall());
  if (next == now.remediation.status) return {};
  const bool says_why_it_waits = now.decision.verdict == Verdict::kHold &&
                                 before != Phase::kPending && next.phase != Phase::kPaused;
  if (now.are_others_unrecorded && says_why_it_waits) {
    now.decision.look_again = kStormInterval;
    return {};
  }
  if (auto status = write(now, next); !status) return status;
  audit(now, AuditMoment::kDecided);
  announce(now, before);
  return {};
}

// Each look at a step that takes its time would ask again.
bool Reconciler::weighs_evidence(const Case& now) const {
  const Remediation& remediation = now.remediation;
  const bool goes_on =
      now.decision.verdict == Verdict::kBegin || now.decision.verdict == Verdict::kWatch;
  const bool is_known = goes_on && remediation.status.kernel_severity;
  return parts_.reports != nullptr && !is_known && remediation.open() && remediation.any_firing();
}

// For people to read. At a look that has nothing else to write: a node that must leave never waits
// for Prometheus.
Status Reconciler::weigh_evidence(Case& now) {
  const Remediation& remediation = now.remediation;
  if (!weighs_evidence(now)) return {};
  const auto report = report_of(remediation.node);
  if (!report || report->boot_id != remediation.boot_id) return {};
  RemediationStatus next = remediation.status;
  note_evidence(*report, next);
  return next == remediation.status ? Status() : write(now, next);
}

Status Reconciler::act(Case& now) {
  const Phase before = now.remediation.status.phase;
  const ActionOrder order{.remediation = now.remediation,
                          .steps = now.decision.steps,
                          .why = now.decision.message,
                          .now = parts_.clock.wall(),
                          .konduktor_taint = wants_konduktor_taint(*now.policy, now.remediation)};
  const auto plan = action(action_of(now.decision.verdict)).plan(order, *now.node);
  if (plan) {
    if (auto allowed = parts_.permit(); !allowed) return hold_back(now, allowed.error());
    const std::string before_intent = now.remediation.resource_version;
    const RemediationStatus without_intent = now.remediation.status;
    if (now.decision.verdict == Verdict::kRelease) {
      if (auto status = abandon_steps(now, has_action); !status) return status;
    }
    if (auto status = record_intent(now, *plan); !status) return status;
    // An intent that stood already was not written: a human may have said hands off since the read.
    const bool is_stale = now.remediation.resource_version == before_intent;
    if (is_stale && now.decision.verdict == Verdict::kQuarantine) {
      if (auto allowed = permit(now.remediation.name); !allowed) {
        return hold_back(now, allowed.error());
      }
    }
    const auto changed = parts_.api.change_node(*now.node, plan->change);
    if (!changed) {
      withdraw_intent(now, changed.error(), without_intent);
      return record_failure(now, changed.error());
    }
    parts_.view.note_own_change(*changed);
    note_change(now.remediation.name);
  }
  const auto next = with_results(now.remediation.status, now.decision, now.policy->mode,
                                 time_of_change(now.remediation.name));
  if (next == now.remediation.status) return {};
  // The node itself says that it is marked, and whose mark it is.
  if (now.are_others_unmarked && now.decision.verdict == Verdict::kQuarantine) {
    put_off_record(now);
    return {};
  }
  if (auto status = write(now, next); !status) return status;
  audit(now, AuditMoment::kDone);
  announce(now, before);
  return {};
}

// Before a node goes back into service, and before another step is begun: then what is still under
// way was left because the node got worse. What may not be ended does not keep the node for ever.
Status Reconciler::abandon_steps(const Case& now, bool (*which)(Step)) {
  for (const StepRecord& record : now.remediation.status.steps) {
    if (!is_under_way(record) || !which(record.step)) continue;
    StepAction* const action = parts_.step_actions(record.step);
    if (action == nullptr) continue;
    const PlannedStep step = planned(record.step);
    const auto ended = action->abandon({.remediation = now.remediation,
                                        .node = now.target,
                                        .step = step,
                                        .facts = record.facts,
                                        .permit = parts_.permit,
                                        .now = parts_.clock.wall()});
    if (!ended && !is_permanent(ended.error().kind)) return ended;
    if (!ended) parts_.observer.on_error(now.remediation.node, ended.error());
  }
  return {};
}

// Something forbids every change right now: what was to be done waits, and says why.
Status Reconciler::hold_back(Case& now, const Error& why) {
  now.decision.verdict = Verdict::kHold;
  now.decision.rule = "guard.stop";
  now.decision.message = "nothing is changed: " + why.message;
  now.decision.phase = now.remediation.status.phase;
  now.decision.reasons.push_back(now.decision.message);
  now.decision.look_again = kStopInterval;
  return carry_out(now);
}

// The step itself has to wait for something, as its guards do.
Status Reconciler::wait_for(Case& now, const std::string& what) {
  now.decision.verdict = Verdict::kHold;
  now.decision.phase = Phase::kWaiting;
  now.decision.message = std::string(to_string(now.decision.step->step)) + " waits: " + what;
  now.decision.reasons.push_back(now.decision.message);
  now.decision.look_again = kObstacleInterval;
  return carry_out(now);
}

StepOrder Reconciler::order_of(const Case& now) {
  const Step step = now.decision.step->step;
  const StepRecord* record = now.remediation.status.find(step);
  return {
      .remediation = now.remediation,
      .node = now.target,
      .step = *now.decision.step,
      .facts = record == nullptr ? Facts() : record->facts,
      .permit = [this, claim = Claim{.remediation = now.remediation.name,
                                     .node = now.remediation.node,
                                     .node_uid = now.remediation.node_uid,
                                     .step = step,
                                     .intended = intent_of(record),
                                     .boot = boot_decided(record)}] { return permit_step(claim); },
      .now = parts_.clock.wall()};
}

Status Reconciler::begin_step(Case& now) {
  if (now.is_remembered)
    return fail(ErrorKind::kInternal, "a step is never begun on what was seen before");
  StepAction* const action = parts_.step_actions(now.decision.step->step);
  if (action == nullptr) {
    return fail(ErrorKind::kInvalid, "nothing is configured that can " +
                                         std::string(to_string(now.decision.step->step)));
  }
  if (auto allowed = parts_.permit(); !allowed) return hold_back(now, allowed.error());
  const auto obstacle = action->obstacle(order_of(now));
  if (!obstacle && !is_permanent(obstacle.error().kind)) {
    return with_context(std::string(to_string(now.decision.step->step)), obstacle.error());
  }
  if (!obstacle) return wait_for(now, obstacle.error().message);
  if (*obstacle) return wait_for(now, **obstacle);
  if (auto status = abandon_steps(now, has_action); !status) return status;
  const Phase before = now.remediation.status.phase;
  if (now.report && now.report->boot_id == now.remediation.boot_id)
    note_evidence(*now.report, now.remediation.status);
  auto intended =
      with_begin(now.remediation.status, now.decision, now.remediation.acted_severity(),
                 now.policy->mode, action->facts_before(now.target), parts_.clock.wall());
  if (action->is_only_watched()) intended = with_watch(std::move(intended), now.decision);
  if (auto status = write(now, intended); !status) return status;
  note_words(now.remediation.name);
  audit(now, AuditMoment::kDecided);
  announce(now, before);
  return record_call(now, action->begin(order_of(now)));
}

// Whether the call was accepted is known here alone: it is not lost to whoever writes at the same
// moment, as long as the intent stands.
Status Reconciler::record_call(Case& now, const Result<StepProgress>& progress) {
  const Step step = now.decision.step->step;
  const std::string intended = intent_of(now.remediation.status.find(step));
  return kube::redo_on_conflict(parts_.clock, [&]() -> Status {
    auto recorded = record_progress(now, progress);
    if (recorded || recorded.error().kind != ErrorKind::kConflict) return recorded;
    auto current = parts_.store.read(now.remediation.name);
    if (!current) return std::unexpected(current.error());
    const StepRecord* record = current->status.find(step);
    if (record == nullptr || !is_under_way(*record) || intent_of(record) != intended)
      return fail(ErrorKind::kCancelled, "the step is not intended any more as it was");
    now.remediation = *std::move(current);
    return recorded;
  });
}

Status Reconciler::watch_step(Case& now) {
  StepAction* const action = parts_.step_actions(now.decision.step->step);
  if (action == nullptr) {
    return record_progress(now, StepProgress{.result = StepResult::kFailed,
                                             .message = "nothing is configured any more for it",
                                             .facts = {},
                                             .look_again = {}});
  }
  return record_progress(now, action->watch(order_of(now)));
}

Status Reconciler::record_progress(Case& now, const Result<StepProgress>& progress) {
  const std::string step(to_string(now.decision.step->step));
  if (!progress) return with_context(step + " of node " + now.remediation.node, progress.error());
  const Phase before = now.remediation.status.phase;
  const auto next =
      with_progress(now.remediation.status, now.decision, *progress, parts_.clock.wall());
  const StepRecord* record = next.find(now.decision.step->step);
  const bool is_over = record == nullptr || record->result != StepResult::kRunning;
  now.decision.look_again = progress->look_again;
  if (next == now.remediation.status) return {};
  const bool goes_on = is_over && progress->result != StepResult::kIntended;
  if (goes_on) now.decision.look_again = milliseconds(0);
  if (is_not_worth_a_write(now, next)) return {};
  const auto end = is_over ? end_after(now, next) : std::nullopt;
  const auto written =
      end ? with_decision(next, *end, now.policy->mode, parts_.clock.wall()) : next;
  if (auto status = write(now, written); !status) return status;
  now.decision.message = next.message;
  if (is_over) {
    const bool failed = record != nullptr && record->result == StepResult::kFailed;
    audit(now, failed ? AuditMoment::kFailed : AuditMoment::kDone, failed ? next.message : "");
  }
  if (end) {
    now.decision = *end;
    audit(now, AuditMoment::kDecided);
  }
  announce(now, before);
  for (const std::string& news : progress->news) say(now, news);
  return {};
}

// Where nothing is left to be done after that step but to hold the node, both are written at once.
std::optional<Decision> Reconciler::end_after(const Case& now, const RemediationStatus& next) {
  Case then = now;
  then.remediation.status = next;
  Decision decision = decide(*then.policy, world_of(then), parts_.clock.wall());
  const bool is_end = decision.verdict == Verdict::kHold && decision.phase == Phase::kHeld;
  return is_end ? std::optional(std::move(decision)) : std::nullopt;
}

// What the step says of itself next can wait a while.
void Reconciler::note_words(const std::string& remediation) {
  const std::lock_guard lock(mutex_);
  said_at_.insert_or_assign(remediation, parts_.clock.steady());
}

// A drain says at each look how many pods are left: people can do with less.
bool Reconciler::is_not_worth_a_write(const Case& now, const RemediationStatus& next) {
  const std::string& name = now.remediation.name;
  const auto at = parts_.clock.steady();
  const std::lock_guard lock(mutex_);
  const bool is_words =
      is_same_but_for_words(next, now.remediation.status, now.decision.step->step);
  if (!is_words) {
    said_at_.erase(name);
    return false;
  }
  const auto said = said_at_.find(name);
  const bool is_too_soon = said != said_at_.end() && at < said->second + kBetweenWords;
  if (is_too_soon || (last_said_ && at < *last_said_ + kBetweenWordsOfAll)) return true;
  said_at_.insert_or_assign(name, at);
  last_said_ = at;
  return false;
}

Status Reconciler::permit(const std::string& remediation) {
  if (auto allowed = parts_.permit(); !allowed) return allowed;
  return wishes_.ask(remediation, [&]() -> Status {
    const auto current = wish_on(remediation);
    return current ? Status() : std::unexpected(current.error());
  });
}

Status Reconciler::permit_step(const Claim& claim) {
  const auto asked_at = parts_.clock.steady();
  if (auto allowed = parts_.permit(); !allowed) return allowed;
  const std::string key = claim.remediation + "/" + std::string(to_string(claim.step)) + "/" +
                          claim.intended + "/" + claim.node_uid;
  auto stands = wishes_.ask(key, [&]() -> Status {
    // What people have said is read last: nothing is between their word and the call.
    const Status same = acts_on_node(claim.step) ? check_node(claim) : Status();
    auto intended = check_intent(claim);
    if (!intended || same) return intended;
    distrust(claim.remediation);  // the view is old: the next look reads both afresh, and closes
    return same;
  });
  if (!stands) return stands;
  if (parts_.clock.steady() - asked_at > kOldestPermit)
    return fail(ErrorKind::kCancelled, "what the permit rests on was read more than 30 s ago");
  if (!parts_.leads || parts_.leads()) return {};
  return fail(ErrorKind::kCancelled, "this replica does not lead any more");
}

Status Reconciler::check_intent(const Claim& claim) {
  const auto current = wish_on(claim.remediation);
  if (!current) return std::unexpected(current.error());
  const StepRecord* record = current->status.find(claim.step);
  if (record != nullptr && is_under_way(*record) && intent_of(record) == claim.intended) return {};
  return fail(ErrorKind::kCancelled, "the step is not intended any more as it was");
}

Status Reconciler::check_node(const Claim& claim) {
  const auto node = parts_.api.get_node(claim.node);
  const bool is_same = node && node->meta.uid == claim.node_uid;
  if (is_same && !claim.boot.empty() && node->boot_id != claim.boot)
    return fail(ErrorKind::kCancelled, "the node has restarted since the step was intended");
  if (is_same) return check_hands_off(claim, *node);
  if (node) return fail(ErrorKind::kCancelled, "another node has the name " + claim.node + " now");
  if (node.error().kind == ErrorKind::kNotFound)
    return fail(ErrorKind::kCancelled, "the node " + claim.node + " is gone");
  return with_context("before a change", node.error());
}

// An exclusion may have come since the step was intended, and a mode that does not go so far.
Status Reconciler::check_hands_off(const Claim& claim, const kube::Node& node) {
  const auto policy = policy_for(parts_.policy.get(), node.meta.labels);
  if (const auto why = exclusion_of(*policy, node)) return fail(ErrorKind::kCancelled, *why);
  if (!allows(policy->mode, claim.step)) {
    return fail(ErrorKind::kCancelled, "mode " + std::string(to_string(policy->mode)) +
                                           " does not go as far as " +
                                           std::string(to_string(claim.step)));
  }
  if (parts_.exclusions == nullptr) return {};
  const auto list = parts_.exclusions->read();
  if (!list) return with_context("before a change", list.error());
  const auto excluded = exclusion_for(*list, node, parts_.clock.wall());
  return excluded ? fail(ErrorKind::kCancelled, excluded->why) : Status();
}

Result<Remediation> Reconciler::wish_on(const std::string& remediation) {
  auto current = parts_.store.read(remediation);
  if (!current) return with_context("before a change", current.error());
  if (current->wish.pause) return fail(ErrorKind::kCancelled, "a human has said pause");
  if (current->wish.cancel) return fail(ErrorKind::kCancelled, "a human has said cancel");
  // What a step has handed out may outlive it: an eviction that waits for its turn.
  if (!current->open()) return fail(ErrorKind::kCancelled, "the remediation is closed");
  return current;
}

}  // namespace gpuward::remediator
