#include "remediator/execution/case_records.h"

#include <utility>

#include "core/runtime/clock.h"
#include "remediator/decision/status_change.h"
#include "remediator/execution/milestones.h"
#include "remediator/execution/notices.h"
#include "remediator/model/node_mark.h"
#include "remediator/records/conditions.h"

namespace gpuward::remediator {
namespace {

// Somebody has to be told of it for sure.
bool needs_notification(const RemediationStatus& status) {
  return needs_operator(status.phase) || is_left_in_service(status);
}

bool needs_attention(const RemediationStatus& status) {
  return status.phase == Phase::kQuarantined || needs_notification(status);
}

// How soon a stop that was lifted is noticed.
constexpr std::chrono::milliseconds kStopInterval{5'000};
// How soon it is noticed that a step need not wait any longer.
constexpr std::chrono::milliseconds kObstacleInterval{10'000};

kube::NodeEvent event_of(const Remediation& remediation, const std::string& what) {
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
  now.decision.message = "nothing is changed: " + why.message;
  now.decision.phase = now.remediation.status.phase;
  now.decision.reasons.push_back(now.decision.message);
  now.decision.look_again = kStopInterval;
  return write_decision(now);
}

Status CaseRecords::wait_for(Case& now, const std::string& what) {
  now.decision.verdict = Verdict::kHold;
  now.decision.phase = Phase::kWaiting;
  now.decision.message = std::string(to_string(now.decision.step->step)) + " waits: " + what;
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

// A conflict: the node was changed by somebody else, or by an attempt whose answer was lost. Where
// the mark is not on it, taint and cordon are not ours, and the record must not let them seem so.
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
  if (error.kind == ErrorKind::kConflict) return std::unexpected(error);  // redo from the start
  audit(now, AuditMoment::kFailed, error.message);
  if (is_permanent(error.kind)) {
    // Best effort: the failure itself is what must reach the caller.
    (void)write(now, with_failure(now.remediation.status, error.message, parts_.clock.wall()));
  }
  return with_context("changing node " + now.remediation.node, error);
}

Status CaseRecords::write(Case& now, const RemediationStatus& next) {
  Remediation wanted = now.remediation;
  const WallTime at = parts_.clock.wall();
  wanted.status = with_conditions(with_milestones(now.remediation, next, at), at);
  if (parts_.notifications != nullptr) {
    wanted.status =
        with_notices(now.remediation, std::move(wanted.status), now.policy->notifications, at);
  }
  if (next.notified_phase != next.phase) wanted.status.notified_phase.reset();
  // First the word, then that it was said: what is lost or dies in between says it twice, never not
  // at all.
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
  if (!told) return with_context("reporting that it needs an operator", told.error());
  next.notified_phase = next.phase;
  return write(now, next);
}

// What no sink has taken yet stays written down: when one has, the node is checked again.
Status CaseRecords::notify_sinks(Case& now) {
  if (parts_.notifications == nullptr || now.remediation.status.notices.empty()) return {};
  auto left = submit_notices(now.remediation, now.policy->notifications, *parts_.notifications);
  if (left.size() == now.remediation.status.notices.size()) return {};
  RemediationStatus next = now.remediation.status;
  next.notices = std::move(left);
  return write(now, next);
}

void CaseRecords::say(const Case& now, const std::string& what) {
  parts_.announcer.announce(event_of(now.remediation, what));
}

}  // namespace gpuward::remediator
