#include "remediator/act/case_records.h"

#include <algorithm>
#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/text.h"
#include "remediator/act/actions/notify_action.h"
#include "remediator/act/milestones.h"
#include "remediator/cluster/conditions.h"
#include "remediator/decide/guards/drills.h"
#include "remediator/decide/status_change.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/step_times.h"

namespace gpuward::remediator {
namespace {

bool is_over(StepResult result) {
  return result == StepResult::kDone || result == StepResult::kFailed;
}

std::vector<std::string> names_of(const NotificationPolicy& policy) {
  std::vector<std::string> names;
  for (const SinkSettings& sink : policy.sinks) names.push_back(sink.name);
  return names;
}

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

// Returns whether the first taint is being set. The write of its result sends the notice.
bool is_being_tainted(const RemediationStatus& status) {
  return status.phase == Phase::kObserved &&
         std::ranges::any_of(status.steps, [&](const StepRecord& record) {
           return is_taint_or_cordon(record.step) && record.result == StepResult::kIntended &&
                  record.message == status.message;
         });
}

// Returns whether the evidence is worse than at the last `opened`, or real while that notice was
// about a drill.
bool has_worsened(const Remediation& remediation) {
  const RemediationStatus& status = remediation.status;
  if (!status.notified_severity || !remediation.open() || is_being_tainted(status)) return false;
  const bool turns_real = status.is_notified_of_drill && !remediation.is_drill();
  return turns_real || remediation.evidence_severity() > *status.notified_severity;
}

// Returns whether gpuward acts on the node, or would act without a limit by a budget or an
// approval.
bool acts(const RemediationStatus& status) {
  return is_open(status.phase) && status.phase != Phase::kPending &&
         status.phase != Phase::kObserved && !needs_operator(status.phase) &&
         status.rule != kOnePerNodeRule;
}

// Compares two statuses of a Remediation and collects the notices.
class NoticeWriter {
 public:
  NoticeWriter(const Remediation& before, RemediationStatus next, const NotificationPolicy& policy,
               WallTime now)
      : before_(before), next_(std::move(next)), policy_(policy), now_(now) {}

  RemediationStatus write() {
    const RemediationStatus& old = before_.status;
    const bool has_moved = old.phase != next_.phase;
    add_opened();
    add_steps();
    if (next_.escalated_to != old.escalated_to) add(Moment::kEscalated, {}, next_.message);
    add_approval();
    if (has_moved && next_.phase == Phase::kHeld) add(Moment::kHeld, {}, next_.message);
    if (next_.rule == kLateRule && old.rule != kLateRule) add(Moment::kHeld, {}, next_.message);
    if (has_moved && next_.phase == Phase::kPaused) add(Moment::kPaused, {}, next_.message);
    if (is_open(old.phase) && !is_open(next_.phase)) add(Moment::kClosed, {}, closing_message());
    return std::move(next_);
  }

 private:
  // Adds the notice `opened` for a new or worse Remediation, and when gpuward stops only observing.
  // A sink may want only severe cases, and a receiver may ignore observed nodes.
  void add_opened() {
    Remediation after = before_;
    after.status = next_;
    const Phase old = before_.status.phase;
    const bool has_moved = next_.phase != old;
    const bool is_new = old == Phase::kPending && has_moved;
    const bool is_observed = old == Phase::kObserved || next_.is_unacted;
    const bool is_to_act = is_observed && acts(next_);
    auto& notified = next_.notified_severity;
    const Severity severity = after.evidence_severity();
    next_.is_unacted =
        is_observed && after.open() && next_.phase != Phase::kObserved && !acts(next_);
    if (is_new || is_to_act || has_worsened(after)) {
      add_of(Moment::kOpened, after.acted_severity(), {}, next_.message);
      notified = severity;
      next_.is_notified_of_drill = after.is_drill();
    } else if (next_.phase != Phase::kPending) {
      notified = std::min(notified.value_or(severity), severity);
    }
  }

  void add_steps() {
    const std::vector<StepRecord> records = next_.steps;
    for (const StepRecord& record : records) {
      const StepRecord* known = before_.status.find(record.step);
      const bool was_over =
          known != nullptr && is_over(known->result) && known->finished_at == record.finished_at;
      if (!is_over(record.result) || was_over) continue;
      const std::string step(to_string(record.step));
      if (record.step == Step::kNotify) {
        add_ordered(record);
      } else {
        add(Moment::kStep, step,
            step + " " + std::string(to_string(record.result)) + ": " + record.message);
      }
    }
  }

  // Returns the message of the closing notice. For a drill it contains the times of the steps.
  std::string closing_message() const {
    const std::string times = before_.is_drill() ? step_times_text(before_, next_) : "";
    return next_.message + (times.empty() ? "" : " (since the alert: " + times + ")");
  }

  // Adds the notice of the step `notify`. The plan requests it, so neither moments nor severity are
  // checked.
  void add_ordered(const StepRecord& record) {
    const auto named = record.facts.find(kSinksFact);
    std::vector<std::string> sinks =
        named == record.facts.end() ? names_of(policy_) : split_names(named->second);
    add_for(std::move(sinks), Moment::kNotify, worst(), std::string(to_string(record.step)),
            before_.status.message);
  }

  void add_approval() {
    const auto& asked = next_.approval;
    if (!asked || asked->seen_at) return;
    const auto& known = before_.status.approval;
    if (known && known->token == asked->token) return;
    add(Moment::kApproval, std::string(to_string(asked->step)), next_.message);
  }

  // Returns the worst severity so far, so that a sink with a minimum severity that got `opened`
  // also gets the end.
  [[nodiscard]] Severity worst() const {
    return std::max(before_.severity, next_.escalated_to.value_or(Severity::kNone));
  }

  void add(Moment moment, const std::string& step, const std::string& message) {
    add_of(moment, worst(), step, message);
  }

  void add_of(Moment moment, Severity severity, const std::string& step,
              const std::string& message) {
    add_for(sinks_for(policy_, moment, severity), moment, severity, step, message);
  }

  void add_for(std::vector<std::string> sinks, Moment moment, Severity severity,
               const std::string& step, const std::string& message) {
    if (sinks.empty()) return;
    if (next_.notices.size() >= kMaxNotices) next_.notices.erase(next_.notices.begin());
    const std::string what = std::string(to_string(moment)) + (step.empty() ? "" : "-" + step);
    const auto at = std::to_string(now_.time_since_epoch().count());
    next_.notices.push_back(
        {.id = before_.name + "-" + what + "-" + short_hash(before_.uid + at + message),
         .moment = moment,
         .sinks = std::move(sinks),
         .at = now_,
         .severity = severity,
         .step = step,
         .phase = std::string(to_string(next_.phase)),
         .mode = std::string(to_string(next_.mode)),
         .message = message,
         .drill = before_.is_drill()});
  }

  const Remediation& before_;
  RemediationStatus next_;
  const NotificationPolicy& policy_;
  WallTime now_;
};

// Returns whether gpuward must reliably notify an operator.
bool needs_notification(const RemediationStatus& status) {
  return needs_operator(status.phase) || is_left_in_service(status) || status.rule == kLateRule;
}

bool needs_attention(const RemediationStatus& status) {
  return status.phase == Phase::kQuarantined || needs_notification(status);
}

// Interval of checks for the end of a stop.
constexpr std::chrono::milliseconds kStopInterval{5'000};
// Interval of checks for the end of a step's obstacle.
constexpr std::chrono::milliseconds kObstacleInterval{10'000};

kube::NodeEvent event_of(const Remediation& remediation, const std::string& what) {
  const Phase phase = remediation.status.phase;
  kube::NodeEvent event;
  event.node = remediation.node;
  event.node_uid = remediation.node_uid;
  event.warning = needs_attention(remediation.status) && !remediation.is_drill();
  event.reason = "Gpuward" + std::string(to_string(phase));
  event.message = remediation.name + ": " + told_as(remediation.is_drill(), what);
  event.component = std::string(kOwner);
  return event;
}

// Returns `next` with a notice for each moment between `before` and `next` that any sink wants.
RemediationStatus with_notices(const Remediation& before, RemediationStatus next,
                               const NotificationPolicy& policy, WallTime now) {
  if (policy.sinks.empty()) return next;
  return NoticeWriter(before, std::move(next), policy, now).write();
}

// Passes the notices of the Remediation to their sinks. Returns the notices that a sink has neither
// accepted nor given up yet.
std::vector<Notice> submit_notices(const Remediation& remediation, const NotificationPolicy& policy,
                                   Notifications& notifications) {
  std::vector<Notice> left;
  for (const Notice& notice : remediation.status.notices) {
    const bool are_notified =
        notifications.are_notified(event_of(remediation, notice, policy), notice.sinks);
    if (!are_notified) left.push_back(notice);
  }
  return left;
}

}  // namespace

Status CaseRecords::write_decision(Case& now) {
  const Phase before = now.remediation.status.phase;
  const auto next = with_decision(pending_.with_own_change(now), now.decision, now.policy->mode,
                                  parts_.clock.wall());
  if (next == now.remediation.status) return {};
  const bool explains_wait = now.decision.verdict == Verdict::kHold && before != Phase::kPending &&
                             next.phase != Phase::kPaused;
  if (now.are_others_unrecorded && explains_wait) {
    now.decision.look_again = kStormInterval;
    return {};
  }
  if (auto status = write(now, next); !status) return status;
  audit(now, AuditMoment::kDecided);
  announce(now, before);
  return {};
}

Status CaseRecords::hold_stopped(Case& now, const Error& why) {
  now.decision.verdict = Verdict::kHold;
  now.decision.rule = "guard.stop";
  now.decision.message = told_as(now.decision.is_drill, "nothing is changed: " + why.message);
  now.decision.phase = now.remediation.status.phase;
  now.decision.reasons.push_back(now.decision.message);
  now.decision.look_again = kStopInterval;
  return write_decision(now);
}

Status CaseRecords::wait_for(Case& now, const std::string& what) {
  now.decision.verdict = Verdict::kHold;
  now.decision.phase = Phase::kWaiting;
  now.decision.message = told_as(
      now.decision.is_drill, std::string(to_string(now.decision.step->step)) + " waits: " + what);
  now.decision.reasons.push_back(now.decision.message);
  now.decision.look_again = kObstacleInterval;
  return write_decision(now);
}

Status CaseRecords::write_intent(Case& now, const NodePlan& plan) {
  const bool is_release = now.decision.verdict == Verdict::kRelease;
  RemediationStatus known = is_release ? pending_.with_own_change(now) : now.remediation.status;
  if (plan.pre_existing_cordon) known.pre_existing_cordon = plan.pre_existing_cordon;
  const auto next = with_intents(known, now.decision, now.policy->mode, parts_.clock.wall());
  if (is_same_status(next, now.remediation.status)) return {};
  if (auto status = write(now, next); !status) return status;
  audit(now, AuditMoment::kDecided);
  return {};
}

// Withdraws the intent after a conflict if the node does not have gpuward's annotation. Another
// client has then changed the node, and the record must not claim taint and cordon.
void CaseRecords::withdraw_intent(Case& now, const Error& why,
                                  const RemediationStatus& without_intent) {
  const bool is_intended = now.remediation.status != without_intent;
  if (!is_intended || why.kind != ErrorKind::kConflict ||
      now.decision.verdict != Verdict::kQuarantine)
    return;
  const auto node = parts_.api.get_node(now.remediation.node);
  if (!node || owner_annotation_on(*node)) return;
  if (auto written = write(now, without_intent); !written)
    parts_.observer.on_error(now.remediation.node, written.error());
}

Status CaseRecords::write_failure(Case& now, const Error& error) {
  // The next pass starts from the beginning.
  if (error.kind == ErrorKind::kConflict) return std::unexpected(error);
  audit(now, AuditMoment::kFailed, error.message);
  if (is_permanent(error.kind)) {
    // Writes the failure if possible. The caller must get the original error.
    (void)write(now, with_failure(now.remediation.status, error.message, parts_.clock.wall()));
  }
  return with_context("changing node " + now.remediation.node, error);
}

Status CaseRecords::write(Case& now, const RemediationStatus& next) {
  Remediation wanted = now.remediation;
  const WallTime at = parts_.clock.wall();
  wanted.status = with_conditions(with_milestones(now.remediation, next, at), at);
  remember_findings(now.target, wanted.status);
  if (parts_.notifications != nullptr) {
    wanted.status =
        with_notices(now.remediation, std::move(wanted.status), now.policy->notifications, at);
  }
  if (next.notified_phase != next.phase) wanted.status.notified_phase.reset();
  // Notifies first and then records it, so that a lost write or a crash repeats the notice instead
  // of losing it.
  const bool is_unnotified = needs_notification(next) && !wanted.status.notified_phase;
  if (is_unnotified && parts_.announcer.deliver(event_of(wanted, next.message)))
    wanted.status.notified_phase = next.phase;
  auto written = parts_.store.write_status(wanted);
  if (!written) return with_context("writing the status", written.error());
  report_milestones(now.remediation.status, *written, parts_.observer);
  now.remediation = std::move(*written);
  parts_.view.put_remediation(now.remediation);
  pending_.forget_written(now.remediation);
  return {};
}

void CaseRecords::audit(const Case& now, AuditMoment moment, const std::string& error) {
  parts_.observer.on_audit({.moment = moment,
                            .at = parts_.clock.wall(),
                            .remediation = now.remediation,
                            .decision = now.decision,
                            .action = action_of(now.decision.verdict),
                            .error = error});
}

void CaseRecords::announce(const Case& now, Phase before) {
  const Phase phase = now.remediation.status.phase;
  const bool acted = !action_of(now.decision.verdict).empty();
  if (needs_notification(now.remediation.status) || (phase == before && !acted)) return;
  say(now, now.decision.message);
}

Status CaseRecords::notify_operator(Case& now) {
  RemediationStatus next = now.remediation.status;
  if (!needs_notification(next) || next.notified_phase == next.phase) return {};
  const auto told = parts_.announcer.deliver(event_of(now.remediation, next.message));
  if (!told) return with_context("notifying that the remediation needs an operator", told.error());
  next.notified_phase = next.phase;
  return write(now, next);
}

// Notices that no sink has accepted yet stay recorded: when one accepts them, the node is checked
// again.
Status CaseRecords::notify_sinks(Case& now) {
  if (parts_.notifications == nullptr || now.remediation.status.notices.empty()) return {};
  auto left = submit_notices(now.remediation, now.policy->notifications, *parts_.notifications);
  if (left.size() == now.remediation.status.notices.size()) return {};
  RemediationStatus next = now.remediation.status;
  next.notices = std::move(left);
  return write(now, next);
}

bool CaseRecords::has_news(const Case& now) const {
  const bool are_there =
      parts_.notifications != nullptr && !now.policy->notifications.sinks.empty();
  const RemediationStatus& status = now.remediation.status;
  const bool is_older = status.phase != Phase::kPending && !status.notified_severity;
  return are_there && (is_older || has_worsened(now.remediation));
}

void CaseRecords::say(const Case& now, const std::string& what) {
  parts_.announcer.announce(event_of(now.remediation, what));
}

}  // namespace gpuward::remediator
