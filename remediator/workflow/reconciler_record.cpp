// What the reconciler writes down and tells: the intent before the node is changed, the result
// after it, and the word to the human.
#include <algorithm>
#include <utility>

#include "core/runtime/clock.h"
#include "remediator/safety/node_mark.h"
#include "remediator/workflow/conditions.h"
#include "remediator/workflow/milestones.h"
#include "remediator/workflow/notices.h"
#include "remediator/workflow/reconciler.h"
#include "remediator/workflow/reconciler_case.h"
#include "remediator/workflow/status_change.h"

namespace gpuward::remediator {
namespace {

// Somebody has to be told of it for sure.
bool must_be_told(const RemediationStatus& status) {
  return needs_human(status.phase) || is_left_in_service(status);
}

bool needs_attention(const RemediationStatus& status) {
  return status.phase == Phase::kQuarantined || must_be_told(status);
}

// The node is about to be changed, or was, and nothing says yet that it is done.
bool has_unwritten_change(const RemediationStatus& status) {
  return std::ranges::any_of(status.steps, [](const StepRecord& record) {
    const bool is_change = is_mark(record.step) || record.step == Step::kReturn;
    return is_change && record.result == StepResult::kIntended;
  });
}

}  // namespace

// Written before the node is touched. After a crash or a conflict the same intent stands already.
Status Reconciler::record_intent(Case& now, const NodePlan& plan) {
  const bool is_release = now.decision.verdict == Verdict::kRelease;
  RemediationStatus known = is_release ? with_own_marks(now) : now.remediation.status;
  if (plan.pre_existing_cordon) known.pre_existing_cordon = plan.pre_existing_cordon;
  const auto next = with_intents(known, now.decision, now.policy->mode, parts_.clock.wall());
  if (says_the_same(next, now.remediation.status)) return {};
  if (auto status = write(now, next); !status) return status;
  audit(now, AuditMoment::kDecided);
  return {};
}

// A conflict: the node was changed by somebody else, or by an attempt whose answer was lost. Where
// the mark is not on it, taint and cordon are not ours, and the record must not let them seem so.
void Reconciler::withdraw_intent(Case& now, const Error& why,
                                 const RemediationStatus& without_intent) {
  const bool is_intended = now.remediation.status != without_intent;
  if (!is_intended || why.kind != ErrorKind::kConflict ||
      now.decision.verdict != Verdict::kQuarantine)
    return;
  const auto node = parts_.api.get_node(now.remediation.node);
  if (!node || mark_on(*node)) return;
  if (auto written = write(now, without_intent); !written)
    parts_.observer.on_error(now.remediation.node, written.error());
}

Status Reconciler::record_failure(Case& now, const Error& error) {
  if (error.kind == ErrorKind::kConflict) return std::unexpected(error);  // redo from the start
  audit(now, AuditMoment::kFailed, error.message);
  if (is_permanent(error.kind)) {
    // Best effort: the failure itself is what must reach the caller.
    (void)write(now, with_failure(now.remediation.status, error.message, parts_.clock.wall()));
  }
  return with_context("changing node " + now.remediation.node, error);
}

Status Reconciler::write(Case& now, const RemediationStatus& next) {
  Remediation wanted = now.remediation;
  const WallTime at = parts_.clock.wall();
  wanted.status = with_conditions(with_milestones(now.remediation, next, at), at);
  if (parts_.notifications != nullptr) {
    wanted.status =
        with_notices(now.remediation, std::move(wanted.status), now.policy->notifications, at);
  }
  if (next.told_phase != next.phase) wanted.status.told_phase.reset();
  // First the word, then that it was said: what is lost or dies in between says it twice, never not
  // at all.
  const bool is_untold = must_be_told(next) && !wanted.status.told_phase;
  if (is_untold && parts_.announcer.tell(event_of(wanted, next.message)))
    wanted.status.told_phase = next.phase;
  auto written = parts_.store.write_status(wanted);
  if (!written) return with_context("writing the status", written.error());
  tell_milestones(now.remediation.status, *written, parts_.observer);
  now.remediation = std::move(*written);
  parts_.view.put_remediation(now.remediation);
  forget_record(now.remediation);
  return {};
}

// Once all that was done to the node is written down.
void Reconciler::forget_record(const Remediation& remediation) {
  if (has_unwritten_change(remediation.status)) return;
  const std::lock_guard lock(mutex_);
  to_record_.erase(remediation.name);
}

void Reconciler::audit(const Case& now, AuditMoment moment, const std::string& error) {
  parts_.observer.on_audit({.moment = moment,
                            .at = parts_.clock.wall(),
                            .remediation = now.remediation,
                            .decision = now.decision,
                            .action = action_of(now.decision.verdict),
                            .error = error});
}

void Reconciler::announce(const Case& now, Phase before) {
  const Phase phase = now.remediation.status.phase;
  const bool acted = !action_of(now.decision.verdict).empty();
  if (must_be_told(now.remediation.status) || (phase == before && !acted)) return;
  say(now, now.decision.message);
}

// Where it could not be told with the write, until it can.
Status Reconciler::tell_human(Case& now) {
  RemediationStatus next = now.remediation.status;
  if (!must_be_told(next) || next.told_phase == next.phase) return {};
  const auto told = parts_.announcer.tell(event_of(now.remediation, next.message));
  if (!told) return with_context("telling that it needs a human", told.error());
  next.told_phase = next.phase;
  return write(now, next);
}

// What no sink has taken yet stays written down: when one has, the node is looked at again.
Status Reconciler::tell_sinks(Case& now) {
  if (parts_.notifications == nullptr || now.remediation.status.notices.empty()) return {};
  auto left = hand_over(now.remediation, now.policy->notifications, *parts_.notifications);
  if (left.size() == now.remediation.status.notices.size()) return {};
  RemediationStatus next = now.remediation.status;
  next.notices = std::move(left);
  return write(now, next);
}

void Reconciler::say(const Case& now, const std::string& what) {
  parts_.announcer.announce(event_of(now.remediation, what));
}

kube::NodeEvent Reconciler::event_of(const Remediation& remediation, const std::string& what) {
  const Phase phase = remediation.status.phase;
  kube::NodeEvent event;
  event.node = remediation.node;
  event.node_uid = remediation.node_uid;
  event.warning = needs_attention(remediation.status);
  event.reason = "Gpuward" + std::string(to_string(phase));
  event.message = remediation.name + ": " + what;
  event.component = std::string(kOwner);
  return event;
}

void Reconciler::note_change(const std::string& remediation) {
  const std::lock_guard lock(mutex_);
  to_record_.insert_or_assign(remediation, ToRecord{.at = parts_.clock.wall()});
}

// Until the others are marked too.
void Reconciler::put_off_record(Case& now) {
  now.decision.look_again = kStormInterval;
  const auto node = parts_.view.last_node(now.remediation.node);
  if (!node) return;
  const WallTime at = time_of_change(now.remediation.name);
  const std::lock_guard lock(mutex_);
  to_record_.insert_or_assign(now.remediation.name,
                              ToRecord{.at = at,
                                       .opened = now.remediation.created,
                                       .node = now.remediation.node,
                                       .version = now.remediation.resource_version,
                                       .node_version = node->meta.resource_version});
}

// Where this process has not made the change: now, when it is found.
WallTime Reconciler::time_of_change(const std::string& remediation) {
  const std::lock_guard lock(mutex_);
  const auto known = to_record_.find(remediation);
  return known == to_record_.end() ? parts_.clock.wall() : known->second.at;
}

// Marks that the node bears, of which nothing was written down, are put into the words of whatever
// was decided since.
RemediationStatus Reconciler::with_own_marks(const Case& now) {
  if (!has_unwritten_change(now.remediation.status)) return now.remediation.status;
  const auto mark = now.node ? mark_on(*now.node) : std::nullopt;
  const bool is_own = mark && mark->name == now.remediation.name &&
                      mark->severity == now.remediation.acted_severity();
  if (!is_own) return now.remediation.status;
  return with_marks(now.remediation.status, *mark, time_of_change(now.remediation.name));
}

}  // namespace gpuward::remediator
