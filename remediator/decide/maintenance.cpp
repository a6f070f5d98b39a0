#include "remediator/decide/maintenance.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/kube/node_announcements.h"
#include "core/runtime/clock.h"
#include "remediator/model/announced.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// How long after its due time a drain counts as late. The time allows a few checks of the gates.
constexpr std::chrono::minutes kLateAfter{1};
// kWorkLasts: how long a cloud counts as at work if it reports no end. kLongestWork: the limit if
// it reports an end.
constexpr std::chrono::hours kWorkLasts{1}, kLongestWork{24};

const AlertEvidence* evidence_of(const Remediation& remediation, const Announcement& announced) {
  const std::string fingerprint = announcement_fingerprint(announced);
  const auto found =
      std::ranges::find(remediation.alerts, fingerprint, &AlertEvidence::fingerprint);
  return found == remediation.alerts.end() || !found->firing() ? nullptr : &*found;
}

bool has_steps(const Policy& policy, AnnouncementKind kind) {
  const auto rule = policy.maintenance.find(kind);
  return rule != policy.maintenance.end() && !rule->second.steps.empty();
}

// Returns whether the machine behind the Node read the announcement in its current boot.
bool is_current(const kube::Node& node, const NodeAnnouncement& one) {
  return !one.is_stale && !one.boot_id.empty() && one.boot_id == node.boot_id;
}

// An announcement that is a reason for steps.
struct Reason {
  Announcement announced;
  WallTime known_since;
};

std::vector<Reason> reasons_of(const Policy& policy, const DecisionInputs& inputs) {
  std::vector<Reason> reasons;
  for (const NodeAnnouncement& one : node_announcements_of(*inputs.node)) {
    const AlertEvidence* known = evidence_of(inputs.remediation, one.announced);
    if (known != nullptr && is_current(*inputs.node, one) && has_steps(policy, one.announced.kind))
      reasons.push_back({one.announced, known->first_received});
  }
  return reasons;
}

// Returns the reason with the earliest start.
const Reason& first_of(const std::vector<Reason>& reasons) {
  return *std::ranges::min_element(reasons, {},
                                   [](const Reason& one) { return one.announced.start; });
}

WallTime drain_begins(const Policy& policy, const Reason& first) {
  return first.announced.start - policy.maintenance.at(*policy.announced).drain_takes;
}

std::optional<Gate> drain_waits(const Policy& policy, const DecisionInputs& inputs, WallTime now) {
  const auto reasons = reasons_of(policy, inputs);
  if (reasons.empty()) {
    return shut("guard.announcement",
                "drain waits: in this boot, the exporter has not reported a cloud announcement for "
                "this machine");
  }
  const Reason& first = first_of(reasons);
  const WallTime begins = drain_begins(policy, first);
  if (now >= begins) return std::nullopt;
  const auto left = std::chrono::ceil<milliseconds>(begins - now);
  return shut("wait.maintenance",
              "drain begins at " + to_rfc3339(begins) + ", before " + summary_of(first.announced),
              std::min<milliseconds>(left, kGateInterval));
}

// Returns whether a decision in this phase needs the report of a late drain. gpuward has already
// notified an operator of a held or paused node.
bool is_going_on(Phase phase) {
  return phase == Phase::kQuarantined || phase == Phase::kWaiting || phase == Phase::kDraining;
}

// Returns whether the drain should have begun, or should have ended, by now.
bool is_late(const Draft& draft, const Reason& first) {
  const StepRecord* drain = counting_record(draft.remediation, Step::kDrain);
  if (drain != nullptr && is_under_way(*drain)) return draft.now >= first.announced.start;
  const WallTime due = std::max(drain_begins(draft.policy, first), first.known_since);
  return draft.now >= due + kLateAfter;
}

bool is_to_be_drained(const Draft& draft) {
  const auto plan = steps_for(draft.policy, draft.remediation.acted_severity());
  const bool drains = std::ranges::find(plan, Step::kDrain, &PlannedStep::step) != plan.end();
  const StepRecord* drain = counting_record(draft.remediation, Step::kDrain);
  return drains && (drain == nullptr || drain->result != StepResult::kDone);
}

}  // namespace

std::optional<std::string> maintenance_under_way(const kube::Node& node, WallTime now) {
  for (const NodeAnnouncement& one : node_announcements_of(node)) {
    const Announcement& announced = one.announced;
    if (one.boot_id != node.boot_id || announced.kind == AnnouncementKind::kRebalance) continue;
    const WallTime end = std::min<WallTime>(announced.end.value_or(announced.start + kWorkLasts),
                                            announced.start + kLongestWork);
    if (announced.start <= now && now < end) return summary_of(announced);
  }
  return std::nullopt;
}

bool is_announced(const Policy& policy, const Remediation& remediation) {
  return std::ranges::any_of(remediation.alerts, [&](const AlertEvidence& alert) {
    const auto kind = announced_kind(alert);
    return alert.firing() && kind && has_steps(policy, *kind);
  });
}

std::optional<Gate> maintenance_before(const PlannedStep& step, const Policy& policy,
                                       const DecisionInputs& inputs, WallTime now) {
  if (!is_maintenance(policy, inputs.remediation)) return std::nullopt;
  if (step.step == Step::kDrain) return drain_waits(policy, inputs, now);
  const bool is_after = step.step > Step::kRestartJob && step.step != Step::kNotify;
  const std::string standing = standing_announcements(policy, inputs);
  if (!is_after || (!is_announced(policy, inputs.remediation) && standing.empty()))
    return std::nullopt;
  const std::string known = announced_text(inputs);
  const std::string& what = known.empty() ? standing : known;
  return shut("wait.maintenance", std::string(to_string(step.step)) +
                                      " waits until the cloud reports the end of: " +
                                      (what.empty() ? "its announcement" : what));
}

bool is_called_off(const Policy& policy, const Remediation& remediation) {
  return is_maintenance(policy, remediation) && !is_announced(policy, remediation);
}

bool has_reason(const Draft& draft) {
  return is_maintenance(draft.policy, draft.remediation)
             ? is_announced(draft.policy, draft.remediation)
             : draft.remediation.any_firing();
}

std::optional<WallTime> reason_ended_at(const Draft& draft) {
  if (!is_maintenance(draft.policy, draft.remediation)) return draft.remediation.ended_at();
  if (has_reason(draft)) return std::nullopt;
  std::optional<WallTime> last;
  for (const AlertEvidence& alert : draft.remediation.alerts) {
    if (announced_kind(alert) && alert.ended_at) last = std::max(last, alert.ended_at);
  }
  return last;
}

std::string standing_announcements(const Policy& policy, const DecisionInputs& inputs) {
  std::string text;
  for (const NodeAnnouncement& one : node_announcements_of(*inputs.node)) {
    if (has_steps(policy, one.announced.kind))
      text += (text.empty() ? "" : "; ") + summary_of(one.announced);
  }
  return text;
}

std::string announced_text(const DecisionInputs& inputs) {
  std::string text;
  for (const NodeAnnouncement& one : node_announcements_of(*inputs.node)) {
    if (evidence_of(inputs.remediation, one.announced) == nullptr) continue;
    text += (text.empty() ? "" : "; ") + summary_of(one.announced);
    if (!one.announced.workload.empty()) text += ", which hits " + one.announced.workload;
  }
  return text;
}

Decision with_lateness(Draft& draft, Decision decision) {
  const bool is_ours =
      draft.inputs.node != nullptr && is_maintenance(draft.policy, draft.remediation);
  if (!is_ours || !is_going_on(decision.phase)) return decision;
  // The node is in service because its maintenance has to wait, and not because of a fault.
  if (decision.rule.starts_with("budget.")) decision.rule = "maintenance.budget";
  const auto reasons = reasons_of(draft.policy, draft.inputs);
  if (reasons.empty() || !is_to_be_drained(draft) || !is_late(draft, first_of(reasons)))
    return decision;
  // kQuarantine counts too, because the taint may be set while the cordon waits for its budget.
  const bool stands = decision.verdict == Verdict::kHold || decision.verdict == Verdict::kWatch ||
                      decision.verdict == Verdict::kQuarantine;
  if (!stands) return decision;
  decision.rule = kLateRule;
  decision.phase = Phase::kWaiting;
  decision.message = "drain not finished in time; gpuward does not force it: " +
                     summary_of(first_of(reasons).announced) + "; " + decision.message;
  return decision;
}

}  // namespace gpuward::remediator
