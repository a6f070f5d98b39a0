#include "remediator/decide/status_change.h"

#include <algorithm>
#include <utility>

#include "core/runtime/clock.h"
#include "remediator/decide/guards/drills.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/step_call.h"
#include "remediator/model/step_facts.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMaxHistory = 32;

std::vector<Step> steps_of(const Decision& decision) {
  if (decision.verdict == Verdict::kRelease) return {Step::kReturn};
  return decision.steps;
}

StepRecord& record_of(RemediationStatus& status, Step step) {
  const auto found = std::find_if(status.steps.begin(), status.steps.end(),
                                  [&](const StepRecord& record) { return record.step == step; });
  if (found != status.steps.end()) return *found;
  StepRecord& added = status.steps.emplace_back();
  added.step = step;
  return added;
}

// Deletes the record of a return when gpuward quarantines the node again.
void forget_return(RemediationStatus& status, const Decision& decision) {
  if (decision.verdict != Verdict::kQuarantine) return;
  std::erase_if(status.steps,
                [](const StepRecord& record) { return record.step == Step::kReturn; });
}

// Deletes the record of the verification when the machine's end begins. The next verification is
// about another node.
void forget_verification(RemediationStatus& status, Step begun) {
  if (begun != Step::kTerminate) return;
  std::erase_if(status.steps,
                [](const StepRecord& record) { return record.step == Step::kVerify; });
}

void say(RemediationStatus& status, const Decision& decision, Mode mode) {
  // A notification about one of these rules does not cover the state before or after the rule.
  for (const std::string_view rule : {kOwnershipRule, kLateRule}) {
    if ((decision.rule == rule) != (status.rule == rule)) status.notified_phase.reset();
  }
  status.mode = mode;
  status.rule = decision.rule;
  status.message = decision.message;
  status.reasons = decision.reasons;
  if (decision.approval) status.approval = decision.approval;
  if (decision.withdraws_approval) status.approval.reset();
}

// Returns `now`, or a later time if the record already has one: the order of steps is read from
// these times, and the previous leader's clock may have differed.
WallTime time_in(const RemediationStatus& status, WallTime now) {
  WallTime last = now;
  for (const StepRecord& record : status.steps) {
    for (const auto& at : {record.intent_at, record.finished_at}) {
      if (at && *at <= now + kMostClockDifference) last = std::max(last, *at);
    }
  }
  return last > now ? last + std::chrono::milliseconds(1) : now;
}

// Adds a line to the history and drops the oldest if it is full.
void remember(RemediationStatus& status, const std::string& what, WallTime now) {
  if (status.history.size() >= kMaxHistory) status.history.erase(status.history.begin());
  status.history.push_back(to_rfc3339(now) + " " + what);
}

bool is_of_unknown_call(const StepRecord& record) {
  return is_of_the_machine(record.step) && call_of(record) != Call::kAccepted;
}

// Returns whether the step's time is over. Steps by Job and restart-job end themselves: a Job's
// action knows whether the Job has run, and restart-job leaves no job suspended. A restart by an
// unanswered call may still begin after the step's time.
bool is_overdue(const StepRecord& record, const PlannedStep& step, std::chrono::milliseconds ran) {
  const bool ends_itself = is_by_job(record) || step.step == Step::kRestartJob;
  if (ends_itself || step.timeout.count() == 0 || !record.intent_at) return false;
  const bool may_be_late = step.step == Step::kReboot && is_of_unknown_call(record);
  return ran > step.timeout && (!may_be_late || ran > kLateRestart);
}

// Writes the running time of a step once a minute, and with each new result or new facts.
void keep_time(StepRecord& record, const StepRecord& before, std::chrono::milliseconds ran) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(ran);
  const std::chrono::seconds kept(before.active_seconds);
  const bool is_news = record.result != before.result || record.facts != before.facts;
  if (is_news || whole >= kept + kKeepsTimeEvery)
    record.active_seconds = static_cast<int>(std::max(kept, whole).count());
}

// Keeps the fact of an earlier treatment, which still counts if a later intent achieves nothing.
void keep_treatment(const StepRecord& before, Facts& facts) {
  if (!has_treated(before)) return;
  const auto known = before.facts.find(kTreatedFact);
  facts[kTreatedFact] =
      known != before.facts.end() ? known->second : std::string(to_string(before.result));
}

// Records the end of the step, with the result in the record.
void finish(RemediationStatus& status, StepRecord& record, WallTime now) {
  record.finished_at = time_in(status, now);
  if (record.result == StepResult::kFailed) note_failure(status, record);
  // A resumed drain may end while a later step has an approval, which must stay.
  const bool is_for_later =
      record.step == Step::kDrain && status.approval && status.approval->step != Step::kDrain;
  if (record.result == StepResult::kDone && !is_for_later) status.approval.reset();
  remember(status,
           std::string(to_string(record.step)) + " " + std::string(to_string(record.result)) +
               ": " + record.message,
           now);
}

// Restores the state before the intent, because nothing was done.
void withdraw(RemediationStatus& status, Step step, WallTime now) {
  StepRecord& record = record_of(status, step);
  const auto treated = record.facts.find(kTreatedFact);
  // Keeps the number of attempts for a refused restart, because gpuward requests it only a few
  // times.
  const bool was_asked =
      step == Step::kReboot && treated == record.facts.end() && record.attempts > 1;
  if (was_asked) {
    --record.attempts;
    record.facts[kCallFact] = std::string(to_string(Call::kNone));
  } else if (treated == record.facts.end() && !record.facts.contains(kFailedAtFact)) {
    std::erase_if(status.steps, [&](const StepRecord& one) { return one.step == step; });
    return;
  }
  const bool was_done =
      treated != record.facts.end() && treated->second == to_string(StepResult::kDone);
  record.result = was_done ? StepResult::kDone : StepResult::kFailed;
  record.severity = Severity::kNone;  // The record no longer counts for any step.
  record.finished_at = now;
}

}  // namespace

RemediationStatus with_decision(RemediationStatus status, const Decision& decision, Mode mode,
                                WallTime now) {
  say(status, decision, mode);
  status.phase = decision.phase;
  if (decision.cordon_is_gone) status.pre_existing_cordon = true;
  if (decision.escalate_to) {
    status.escalated_to = decision.escalate_to;
    // The approval was requested for a step that gpuward does not take.
    if (status.approval && !status.approval->seen_at) status.approval.reset();
    remember(status, decision.message, now);
  }
  if (decision.cleared) {
    status.cleared = decision.cleared;
    status.approval.reset();
    remember(status, decision.message, now);
  }
  if (!is_open(status.phase) && !status.closed_at) status.closed_at = now;
  // The node itself shows that a return was carried out before a crash.
  for (StepRecord& record : status.steps) {
    if (status.phase != Phase::kReleased || record.step != Step::kReturn) continue;
    if (record.result != StepResult::kDone) record.finished_at = now;
    record.result = StepResult::kDone;
  }
  return status;
}

RemediationStatus with_annotation(RemediationStatus status, const OwnerAnnotation& mark,
                                  WallTime at) {
  for (StepRecord& record : status.steps) {
    const bool is_there = (record.step == Step::kTaint && mark.taint) ||
                          (record.step == Step::kCordon && mark.cordon);
    if (!is_there || record.result != StepResult::kIntended) continue;
    record.result = StepResult::kDone;
    record.finished_at = at;
  }
  return status;
}

RemediationStatus with_intents(RemediationStatus status, const Decision& decision, Mode mode,
                               WallTime now) {
  say(status, decision, mode);
  forget_return(status, decision);
  for (const Step step : steps_of(decision)) {
    StepRecord& record = record_of(status, step);
    record.result = StepResult::kIntended;
    record.intent_at = now;
    record.finished_at.reset();
    record.message = decision.message;
    ++record.attempts;
  }
  return status;
}

RemediationStatus with_results(RemediationStatus status, const Decision& decision, Mode mode,
                               WallTime now) {
  forget_return(status, decision);
  for (const Step step : steps_of(decision)) {
    StepRecord& record = record_of(status, step);
    if (record.result == StepResult::kDone) continue;
    record.result = StepResult::kDone;
    record.finished_at = now;
  }
  return with_decision(std::move(status), decision, mode, now);
}

RemediationStatus with_failure(RemediationStatus status, const std::string& error, WallTime now) {
  for (StepRecord& record : status.steps) {
    if (record.result != StepResult::kIntended) continue;
    record.result = StepResult::kFailed;
    record.finished_at = now;
    record.message = error;
  }
  return status;
}

RemediationStatus with_begin(RemediationStatus status, const Decision& decision, Severity severity,
                             Mode mode, Facts facts, WallTime now) {
  say(status, decision, mode);
  status.phase = decision.phase;
  forget_verification(status, decision.step->step);
  StepRecord& record = record_of(status, decision.step->step);
  // Keeps the jobs that lost pods in an earlier drain, because they still wait for their restart.
  if (const auto torn = record.facts.find(kJobsFact); torn != record.facts.end())
    facts.insert(*torn);
  keep_treatment(record, facts);
  keep_failure(status, record, facts);
  const int attempts = record.attempts;
  const WallTime at = time_in(status, now);
  record = {.step = decision.step->step,
            .result = StepResult::kIntended,
            .severity = severity,
            .intent_at = at,
            .finished_at = {},
            .attempts = attempts + 1,
            .message = decision.message,
            .facts = std::move(facts),
            .pool = decision.step->pool,
            .drill = decision.is_drill};
  return status;
}

// Resumes the drain under its old intent, so that pods that came after the intent still count as
// newcomers.
RemediationStatus with_drain_again(RemediationStatus status, const std::string& why, WallTime now) {
  StepRecord& record = record_of(status, Step::kDrain);
  const bool is_over = ++record.attempts > kMostDrains;
  record.result = is_over ? StepResult::kFailed : StepResult::kRunning;
  record.finished_at.reset();
  record.active_seconds = 0;
  record.message = is_over ? why + ", after " + std::to_string(kMostDrains) + " drains" : why;
  status.phase = Phase::kDraining;
  status.rule = "step.drain";
  status.message = record.message;
  if (is_over) {
    finish(status, record, now);
  } else {
    remember(status, "drain resumes: " + why, now);
  }
  return status;
}

RemediationStatus with_watch(RemediationStatus status, const Decision& decision) {
  record_of(status, decision.step->step).result = StepResult::kRunning;
  return status;
}

bool is_same_but_for_message(const RemediationStatus& next, const RemediationStatus& known,
                             Step step) {
  const StepRecord* const record = known.find(step);
  if (record == nullptr || next.find(step) == nullptr) return false;
  RemediationStatus same = next;
  same.message = known.message;
  record_of(same, step).message = record->message;
  record_of(same, step).active_seconds = record->active_seconds;
  return same == known;
}

RemediationStatus with_progress(RemediationStatus status, const Decision& decision,
                                const StepProgress& progress, std::chrono::milliseconds ran,
                                WallTime now) {
  const Step step = decision.step->step;
  if (progress.result == StepResult::kIntended) {
    status.message = told_as(decision.is_drill, progress.message);
    status.phase = Phase::kWaiting;
    withdraw(status, step, now);
    return status;
  }
  StepRecord& record = record_of(status, step);
  // A failed step can only change to done, if its accepted call succeeds after all.
  if (record.result == StepResult::kFailed && progress.result != StepResult::kDone) return status;
  const StepRecord before = record;
  record.result = progress.result;
  record.message = progress.message;
  record.facts = progress.facts;
  if (record.result == StepResult::kRunning && is_overdue(record, *decision.step, ran)) {
    record.result = StepResult::kFailed;
    if (!is_of_unknown_call(record)) record.message = "not done in time: " + progress.message;
  }
  keep_time(record, before, ran);
  status.phase = decision.phase;
  status.rule = decision.rule;
  status.message = told_as(decision.is_drill, record.message);
  for (const std::string& news : progress.news) remember(status, news, now);
  if (record.result == StepResult::kRunning) return status;
  finish(status, record, now);
  return status;
}

RemediationStatus with_left_failure(RemediationStatus status, Step left,
                                    const StepProgress& progress, WallTime now) {
  StepRecord& record = record_of(status, left);
  record.result = StepResult::kFailed;
  record.message = progress.message;
  record.facts = progress.facts;
  finish(status, record, now);
  return status;
}

bool is_same_status(const RemediationStatus& a, const RemediationStatus& b) {
  const auto timeless = [](RemediationStatus status) {
    for (StepRecord& record : status.steps) {
      record.intent_at.reset();
      record.finished_at.reset();
      record.attempts = 0;
      record.active_seconds = 0;
    }
    status.closed_at.reset();
    return status;
  };
  return timeless(a) == timeless(b);
}

}  // namespace gpuward::remediator
