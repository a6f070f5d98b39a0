#include "remediator/act/milestones.h"

#include <algorithm>
#include <utility>

namespace gpuward::remediator {
namespace {

std::optional<WallTime> first_of(const Remediation& remediation, WallTime AlertEvidence::* time) {
  const auto& alerts = remediation.alerts;
  if (alerts.empty()) return std::nullopt;
  return std::ranges::min(alerts, {}, time).*time;
}

std::optional<Milestone> milestone_of(Step step) {
  if (step == Step::kTaint) return Milestone::kTainted;
  if (step == Step::kCordon) return Milestone::kCordoned;
  if (step == Step::kDrain) return Milestone::kDrained;
  if (step == Step::kReturn) return Milestone::kRecovered;
  if (is_disruptive(step)) return Milestone::kActed;
  return std::nullopt;
}

}  // namespace

RemediationStatus with_milestones(const Remediation& remediation, RemediationStatus next,
                                  WallTime now) {
  if (const auto received = first_of(remediation, &AlertEvidence::first_received)) {
    next.reached.try_emplace(Milestone::kAccepted, *received);
  }
  const bool is_ended = next.has_done(Step::kTerminate);
  for (const StepRecord& record : next.steps) {
    const bool is_replaced = is_ended && record.step == Step::kVerify;
    const auto milestone = is_replaced ? Milestone::kRecovered : milestone_of(record.step);
    if (!milestone || record.result != StepResult::kDone) continue;
    next.reached.try_emplace(*milestone, record.finished_at.value_or(now));
  }
  return next;
}

void report_milestones(const RemediationStatus& before, const Remediation& written,
                       ReconcileObserver& observer) {
  const auto fault_at = first_of(written, &AlertEvidence::starts_at);
  if (!fault_at || written.is_drill()) return;
  for (const auto& [milestone, at] : written.status.reached) {
    if (before.reached.contains(milestone)) continue;
    // The clocks of two machines may disagree.
    const auto age = std::max(at - *fault_at, WallTime::duration::zero());
    observer.on_milestone(milestone, std::chrono::duration<double>(age));
  }
}

}  // namespace gpuward::remediator
