#include "remediator/act/step_execution.h"

#include <utility>

#include "core/kube/redo_on_conflict.h"
#include "core/runtime/clock.h"
#include "remediator/act/actions/operand_pause.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/cluster/view_queries.h"
#include "remediator/decide/guards/drills.h"
#include "remediator/decide/maintenance.h"
#include "remediator/decide/status_change.h"
#include "remediator/decide/step_gates.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/error_class.h"
#include "remediator/model/silent_alerts.h"
#include "remediator/model/step_call.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// How often the message of a running step is written, for one step and for all of them together, so
// that hundreds of drains leave the API server to their evictions.
constexpr milliseconds kBetweenMessages{5'000};
constexpr milliseconds kBetweenMessagesOfAll{200};

// The time limit for a step without its own limit, if it only returns errors.
constexpr std::chrono::hours kLongestErrors{24};

milliseconds limit_of(const PlannedStep& step) {
  if (step.step == Step::kDrain) return step.drain.deadline;
  return step.timeout.count() > 0 ? step.timeout : milliseconds(kLongestErrors);
}

// Returns whether the step does more than change the Node.
bool has_action(const StepRecord& record) {
  return !is_taint_or_cordon(record.step) && record.step != Step::kReturn;
}

// The boot on which the step was decided, if it has not started yet; empty if it has, or if the
// boot does not matter to the step.
std::string boot_decided(const StepRecord* record) {
  if (record == nullptr || record->result != StepResult::kIntended) return {};
  if (record->step != Step::kGpuReset && record->step != Step::kReboot) return {};
  const auto& fact = record->step == Step::kReboot ? kBootBeforeFact : kJobBootFact;
  return value_at(record->facts, fact);
}

// Returns whether the step acts on the node, also by a Job, or on the jobs that ran there. All
// other steps can continue without the node.
bool acts_on_node(Step step) {
  return is_disruptive(step) || is_job(step) || step == Step::kRestartJob;
}

// Returns whether the step's Job tests only this node. watch() of nccl-pairs also creates Jobs on
// other nodes.
bool is_diagnostic_job(Step step) {
  return is_diagnostic(step) && is_job(step) && step != Step::kNcclPairs;
}

// Largest age of the answers behind a permit.
constexpr milliseconds kOldestPermit{30'000};

// Returns the time of the intent in the format of the resource; empty if there is none.
std::string intent_of(const StepRecord* record) {
  return record == nullptr || !record->intent_at ? "" : to_rfc3339_ms(*record->intent_at);
}

Status check_intent(const StepPermits::Claim& claim, const Remediation& now) {
  const StepRecord* record = now.status.find(claim.step);
  if (record != nullptr && is_under_way(*record) && intent_of(record) == claim.intended) return {};
  return fail(ErrorKind::kCancelled, "the intent of the step has changed");
}

// Returns the decision to hold the node if nothing else follows the step. Both are then written at
// once.
std::optional<Decision> end_after(const CaseDecider& decider, const Case& now,
                                  const RemediationStatus& next) {
  auto decision = decider.decide_after(now, next);
  const bool is_end =
      decision && decision->verdict == Verdict::kHold && decision->phase == Phase::kHeld;
  return is_end ? std::move(decision) : std::nullopt;
}

// Finds the pods that have come to the node since it was drained for this step, and must leave
// before the step disrupts it. nullopt: none, or the step does not depend on a drain.
Result<std::optional<StepUndone>> undone_drain(const ReconcilerParts& parts, const Case& now) {
  const Step step = now.decision.step->step;
  const bool rests_on_it = step == Step::kGpuReset || is_of_the_machine(step);
  const StepRecord* drain = counting_record(now.remediation, Step::kDrain);
  StepAction* const action = parts.step_actions(Step::kDrain);
  if (!rests_on_it || rests_on_proofs(step, now.remediation) || action == nullptr ||
      drain == nullptr || drain->result != StepResult::kDone)
    return std::nullopt;
  const PlannedStep begun = as_begun(*now.policy, now.remediation, *drain);
  auto undone = action->undone({.remediation = now.remediation,
                                .node = now.target,
                                .step = begun,
                                .facts = drain->facts,
                                .permit = parts.permit,
                                .now = parts.clock.wall()});
  if (!undone) return with_context("before " + std::string(to_string(step)), undone.error());
  return undone;
}

// Returns an error text if two Nodes share one spec.providerID, because gpuward cannot tell which
// Node is the machine; nullopt if only one has it.
std::optional<std::string> ambiguous_machine(const ReconcilerParts& parts, const Case& now) {
  if (!is_of_the_machine(now.decision.step->step)) return std::nullopt;
  const auto other = other_with_provider_id(parts.view, now.target);
  if (!other) return std::nullopt;
  return "node " + *other + " has the same spec.providerID, " + now.target.provider_id +
         ": correct it, or delete the Node that is not this machine";
}

// Returns why the drain does not resume, with the pods; nullopt if it may. A resumed drain must
// meet the conditions of its step, like any drain.
std::optional<std::string> objection_to_resume(Case& now, const StepUndone& undone, WallTime at) {
  if (!undone.can_be_redone) return undone.what;
  const StepRecord* drain = counting_record(now.remediation, Step::kDrain);
  if (drain == nullptr) return undone.what;
  const PlannedStep begun = as_begun(*now.policy, now.remediation, *drain);
  if (const auto shut = window_before(begun, *now.policy, at)) {
    now.decision.rule = shut->rule;
    return undone.what + "; " + shut->message;
  }
  if (begun.before.approval)
    return undone.what + "; the drain needs a new approval: yours covered only the earlier pods";
  return std::nullopt;
}

// Records the approval, so that its hour starts now even if the step is delayed.
Status note_approval(CaseRecords& records, Case& now) {
  const auto& given = now.decision.approval;
  if (!given || now.remediation.status.approval == given) return {};
  RemediationStatus next = now.remediation.status;
  next.approval = given;
  return records.write(now, next);
}

}  // namespace

Status StepPermits::for_step(const Claim& claim) {
  const auto asked_at = parts_.clock.steady();
  if (auto allowed = parts_.permit(); !allowed) return allowed;
  const std::string key = claim.remediation + "/" + std::string(to_string(claim.step)) + "/" +
                          claim.intended + "/" + claim.node_uid;
  auto stands = reads_.ask(key, [&] { return check(claim); });
  if (!stands) return stands;
  if (parts_.clock.steady() - asked_at > kOldestPermit)
    return fail(ErrorKind::kCancelled, "the data behind the permit is older than 30 s");
  if (!parts_.leads || parts_.leads()) return {};
  return fail(ErrorKind::kCancelled, "this replica is no longer the leader");
}

Status StepPermits::check(const Claim& claim) {
  if (!acts_on_node(claim.step)) {
    const auto current = reader_.read_wish(claim.remediation);
    return current ? check_intent(claim, *current) : std::unexpected(current.error());
  }
  const auto now = reader_.read_again(claim.remediation, claim.node, parts_.policy.get());
  const Status allowed = now ? check_claim(claim, *now) : std::unexpected(now.error());
  // The view may be old, so the next pass reads the Remediation and the Node from the API server.
  if (!allowed) reader_.distrust(claim.remediation);
  return allowed;
}

Status StepPermits::check_claim(const Claim& claim, const FreshCase& now) {
  const kube::Node& node = *now->node;
  if (node.meta.uid != claim.node_uid)
    return fail(ErrorKind::kCancelled, "a different node is now named " + claim.node);
  if (auto intended = check_intent(claim, now->remediation); !intended) return intended;
  if (auto still = decider_.check_under_way(now, claim.step); !still) return still;
  // A restart is watched to its end in any mode; no call is made in a mode that does not allow it.
  if (!allows(now->policy->mode, claim.step)) {
    return fail(ErrorKind::kCancelled, "mode " + std::string(to_string(now->policy->mode)) +
                                           " does not allow " + std::string(to_string(claim.step)));
  }
  if (!claim.boot.empty() && node.boot_id != claim.boot)
    return fail(ErrorKind::kCancelled, "the node has restarted since the step was planned");
  if (claim.is_drill && (!allows_drills(node) || claim.step == Step::kTerminate))
    return fail(ErrorKind::kCancelled, "the node does not allow this drill step");
  if (!claim.is_silent) return {};
  if (parts_.proofs == nullptr)
    return fail(ErrorKind::kCancelled, "no proof that the machine is down");
  const Status silent = parts_.proofs->check_silent(node);
  return silent ? silent : fail(ErrorKind::kCancelled, silent.error().message);
}

void note_evidence(const HealthReport& report, RemediationStatus& status) {
  status.confirmed_severity = report.confirmed_severity;
  if (is_milder_class(status.error_class, report.error_class))
    status.error_class = report.error_class;
}

namespace {

// The pod of a leftover reboot Job may have run since the last check, or may be about to. No later
// check can tell.
std::optional<RemediationStatus> with_restart_to_come(const ReconcilerParts& parts,
                                                      const Case& now) {
  const StepRecord* const record = now.remediation.status.find(Step::kReboot);
  const bool is_open = record != nullptr && is_by_job(*record) &&
                       record->result != StepResult::kDone && call_of(*record) != Call::kNone &&
                       !record->facts.contains(kRestartsBeforeFact);
  if (!is_open || !now.node) return std::nullopt;
  const auto has_pod = has_pod_of(Step::kReboot, parts.api, now.node->meta.name,
                                  value_at(record->facts, kJobNamespaceFact), PodLife::kAny);
  if (has_pod && !*has_pod) return std::nullopt;
  RemediationStatus next = now.remediation.status;
  for (StepRecord& one : next.steps) {
    if (one.step == Step::kReboot)
      one.facts[kRestartsBeforeFact] = to_rfc3339_ms(parts.clock.wall() + kRestartsWithin);
  }
  return next;
}

}  // namespace

Result<bool> StepExecution::record_left_failures(FreshCase& decided) {
  Case& now = *decided;
  const Verdict verdict = now.decision.verdict;
  if (verdict != Verdict::kBegin && verdict != Verdict::kRelease && verdict != Verdict::kClose)
    return false;
  const auto no_change = [] {
    return Status(fail(ErrorKind::kCancelled, "the failure of the step must be recorded first"));
  };
  std::optional<RemediationStatus> next;
  for (const StepRecord& record : now.remediation.status.steps) {
    if (!is_under_way(record) || !is_diagnostic_job(record.step)) continue;
    StepAction* const action = parts_.step_actions(record.step);
    if (action == nullptr) continue;
    const PlannedStep step = as_begun(*now.policy, now.remediation, record);
    auto progress = action->watch({.remediation = now.remediation,
                                   .node = now.target,
                                   .step = step,
                                   .facts = record.facts,
                                   .permit = no_change,
                                   .now = parts_.clock.wall()});
    if (!progress && !is_permanent(progress.error().kind)) return std::unexpected(progress.error());
    // A deleted Job, or a Job that has not run, says nothing about the node.
    const bool has_failed = progress && progress->result == StepResult::kFailed &&
                            progress->facts.contains(kCallFact) &&
                            progress->facts.contains(kHasRunFact);
    if (!has_failed) continue;
    progress->facts[kJobLeftFact] = "true";  // abandon() deletes it
    next = with_left_failure(next.value_or(now.remediation.status), record.step, *progress,
                             parts_.clock.wall());
  }
  if (!next && verdict == Verdict::kRelease) next = with_restart_to_come(parts_, now);
  if (!next) return false;
  now.decision.look_again = milliseconds(0);
  if (auto status = records_.write(now, *next); !status) return std::unexpected(status.error());
  return true;
}

Status StepExecution::abandon(const Case& now) { return abandon(now, has_action); }

Status StepExecution::abandon_jobs(FreshCase& decided) { return abandon(*decided, is_by_job); }

Status StepExecution::give_back_jobs(const Case& now) {
  return abandon(now, [](const StepRecord& record) { return record.step == Step::kRestartJob; });
}

Status StepExecution::abandon(const Case& now, bool (*which)(const StepRecord&)) {
  for (const StepRecord& record : now.remediation.status.steps) {
    // The step's Job of an earlier intent, such as a drill's, has the name of the next one.
    const bool begins_again = now.decision.verdict == Verdict::kBegin && now.decision.step &&
                              now.decision.step->step == record.step && is_by_job(record);
    const bool may_go_on =
        is_under_way(record) || record.facts.contains(kJobLeftFact) || begins_again;
    if (!may_go_on || !which(record)) continue;
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

StepRequest StepExecution::request_of(const Case& now) {
  const Step step = now.decision.step->step;
  const StepRecord* record = now.remediation.status.find(step);
  return {.remediation = now.remediation,
          .node = now.target,
          .step = *now.decision.step,
          .facts = record == nullptr ? Facts() : record->facts,
          .permit =
              [this, claim = StepPermits::Claim{.remediation = now.remediation.name,
                                                .node = now.remediation.node,
                                                .node_uid = now.remediation.node_uid,
                                                .step = step,
                                                .intended = intent_of(record),
                                                .is_silent = rests_on_proofs(step, now.remediation),
                                                .is_drill = now.remediation.is_drill() ||
                                                            (record != nullptr && record->drill),
                                                .boot = boot_decided(record)}] {
                return permits_.for_step(claim);
              },
          .now = parts_.clock.wall()};
}

Status StepExecution::begin(FreshCase& decided) {
  Case& now = *decided;
  StepAction* const action = parts_.step_actions(now.decision.step->step);
  if (action == nullptr) {
    return fail(ErrorKind::kInvalid, "nothing is configured for the step " +
                                         std::string(to_string(now.decision.step->step)));
  }
  if (auto allowed = parts_.permit(); !allowed) return records_.hold_stopped(now, allowed.error());
  if (auto noted = note_approval(records_, now); !noted) return noted;
  const auto obstacle = action->obstacle(request_of(now));
  if (!obstacle && !is_permanent(obstacle.error().kind)) {
    return with_context(std::string(to_string(now.decision.step->step)), obstacle.error());
  }
  if (!obstacle) return records_.wait_for(now, obstacle.error().message);
  if (*obstacle) return records_.wait_for(now, **obstacle);
  if (const auto why = ambiguous_machine(parts_, now)) return records_.wait_for(now, *why);
  const auto undone = undone_drain(parts_, now);
  if (!undone && undone.error().kind == ErrorKind::kConflict)
    return std::unexpected(undone.error());
  if (!undone) return records_.wait_for(now, undone.error().message);
  if (*undone) {
    if (const auto why = objection_to_resume(now, **undone, parts_.clock.wall()))
      return records_.wait_for(now, *why);
    const auto next =
        with_drain_again(now.remediation.status, (*undone)->what, parts_.clock.wall());
    if (const StepRecord* drain = next.find(Step::kDrain))
      clock_.restart(now.remediation.name, *drain);
    now.decision.look_again = milliseconds(0);
    return records_.write(now, next);
  }
  if (auto status = abandon(now); !status) return status;
  const Phase before = now.remediation.status.phase;
  if (now.report && now.report->boot_id == now.remediation.boot_id)
    note_evidence(*now.report, now.remediation.status);
  auto intended =
      with_begin(now.remediation.status, now.decision, now.remediation.acted_severity(),
                 now.policy->mode, action->facts_before(now.target), parts_.clock.wall());
  if (action->is_only_watched()) intended = with_watch(std::move(intended), now.decision);
  if (auto status = records_.write(now, intended); !status) return status;
  note_message(now.remediation.name);
  records_.audit(now, AuditMoment::kDecided);
  records_.announce(now, before);
  return record_call(now, look(now, *action, &StepAction::begin));
}

StepExecution::Looked StepExecution::look(
    Case& now, StepAction& action, Result<StepProgress> (StepAction::*how)(const StepRequest&)) {
  const std::string& name = now.remediation.name;
  StepRequest request = request_of(now);
  if (const StepRecord* record = now.remediation.status.find(request.step.step)) {
    const WatchedTime time = clock_.look(name, *record);
    request.ran = time.ran;
    request.unwatched = time.unwatched;
  }
  const milliseconds ran = request.ran;
  Looked looked{.progress = (action.*how)(request), .ran = ran};
  const bool has_answer = looked.progress || is_final(looked.progress.error().kind);
  clock_.look_ended(name, has_answer && (!looked.progress || looked.progress->runs_clock));
  return looked;
}

// Records the answer of the call, which only this process has. It retries after a conflict while
// the intent is in the record, so that no concurrent writer loses the answer.
Status StepExecution::record_call(Case& now, const Looked& looked) {
  const Step step = now.decision.step->step;
  const std::string intended = intent_of(now.remediation.status.find(step));
  const auto try_once = [&]() -> Status {
    auto recorded = record_progress(now, looked);
    if (recorded || recorded.error().kind != ErrorKind::kConflict) return recorded;
    auto current = parts_.store.read(now.remediation.name);
    if (!current) return std::unexpected(current.error());
    const StepRecord* record = current->status.find(step);
    if (record == nullptr || !is_under_way(*record) || intent_of(record) != intended)
      return fail(ErrorKind::kCancelled, "the intent of the step has changed");
    now.remediation = *std::move(current);
    return recorded;
  };
  return kube::redo_on_conflict(parts_.clock, try_once, {}, parts_.jitter_seed);
}

Status StepExecution::watch(Case& now) {
  StepAction* const action = parts_.step_actions(now.decision.step->step);
  if (action == nullptr) {
    return record_progress(
        now, {.progress = StepProgress{.result = StepResult::kFailed,
                                       .message = "no action is configured for the step any longer",
                                       .facts = {},
                                       .look_again = {}}});
  }
  Looked looked = look(now, *action, &StepAction::watch);
  const StepRecord* const record = now.remediation.status.find(now.decision.step->step);
  const bool is_refused = !looked.progress && is_final(looked.progress.error().kind) &&
                          record != nullptr && record->result == StepResult::kRunning;
  return is_refused ? record_refusal(now, std::move(looked)) : record_progress(now, looked);
}

// Records a refusal that stays until an operator changes something. The status shows it, and the
// step ends at its time limit.
Status StepExecution::record_refusal(Case& now, Looked looked) {
  const Step step = now.decision.step->step;
  const Error error = looked.progress.error();
  const StepRequest request = request_of(now);
  const bool is_over = looked.ran >= limit_of(*now.decision.step);
  looked.progress = is_over ? failed_for_operator(request, "not done in time: " + error.message)
                            : progress_of(request, StepResult::kRunning, error.message);
  if (is_over && is_by_job(*now.remediation.status.find(step)))
    looked.progress->facts[kJobLeftFact] = "true";
  if (auto status = record_progress(now, looked); !status || is_over) return status;
  return with_context(std::string(to_string(step)) + " of node " + now.remediation.node, error);
}

Status StepExecution::record_progress(Case& now, const Looked& looked) {
  const Result<StepProgress>& progress = looked.progress;
  const std::string step(to_string(now.decision.step->step));
  if (!progress) return with_context(step + " of node " + now.remediation.node, progress.error());
  const Phase before = now.remediation.status.phase;
  StepProgress noted = *progress;
  if (now.decision.step->step == Step::kVerify && noted.result == StepResult::kDone)
    noted.facts[kVerifiedBootFact] = now.target.boot_id;
  const auto next =
      with_progress(now.remediation.status, now.decision, noted, looked.ran, parts_.clock.wall());
  const StepRecord* record = next.find(now.decision.step->step);
  const bool is_over = record == nullptr || record->result != StepResult::kRunning;
  now.decision.look_again = progress->look_again;
  if (next == now.remediation.status) return {};
  const bool goes_on = is_over && progress->result != StepResult::kIntended;
  if (goes_on) now.decision.look_again = milliseconds(0);
  if (is_too_small_to_write(now, next)) return {};
  const auto end = is_over ? end_after(decider_, now, next) : std::nullopt;
  const auto written =
      end ? with_decision(next, *end, now.policy->mode, parts_.clock.wall()) : next;
  if (auto status = records_.write(now, written); !status) return status;
  now.decision.message = next.message;
  if (goes_on) {
    const bool failed = record != nullptr && record->result == StepResult::kFailed;
    records_.audit(now, failed ? AuditMoment::kFailed : AuditMoment::kDone,
                   failed ? next.message : "");
  }
  if (end) {
    now.decision = *end;
    records_.audit(now, AuditMoment::kDecided);
  }
  records_.announce(now, before);
  for (const std::string& news : progress->news) records_.say(now, news);
  return {};
}

// Notes that the message was written, so that the next message of the step can wait.
void StepExecution::note_message(const std::string& remediation) {
  const std::lock_guard lock(mutex_);
  written_at_.insert_or_assign(remediation, parts_.clock.steady());
}

// Returns whether the change is too small to write now. A drain reports at each check how many pods
// are left, and people need fewer updates.
bool StepExecution::is_too_small_to_write(const Case& now, const RemediationStatus& next) {
  const std::string& name = now.remediation.name;
  const auto at = parts_.clock.steady();
  const std::lock_guard lock(mutex_);
  const bool is_message_only =
      is_same_but_for_message(next, now.remediation.status, now.decision.step->step);
  if (!is_message_only) {
    written_at_.erase(name);
    return false;
  }
  const auto said = written_at_.find(name);
  const bool is_too_soon = said != written_at_.end() && at < said->second + kBetweenMessages;
  if (is_too_soon || (last_written_ && at < *last_written_ + kBetweenMessagesOfAll)) return true;
  written_at_.insert_or_assign(name, at);
  last_written_ = at;
  return false;
}

void StepExecution::forget(const std::string& remediation) {
  clock_.forget(remediation);
  const std::lock_guard lock(mutex_);
  written_at_.erase(remediation);
}

}  // namespace gpuward::remediator
