#include "remediator/decide/step_gates.h"

#include <algorithm>

#include "core/runtime/clock.h"
#include "remediator/decide/budgets/slot_claim.h"
#include "remediator/decide/draft.h"
#include "remediator/decide/guards/approval.h"
#include "remediator/decide/guards/drills.h"
#include "remediator/decide/guards/other_repairers.h"
#include "remediator/decide/maintenance.h"
#include "remediator/decide/recovery.h"
#include "remediator/model/evidence.h"
#include "remediator/model/history_alerts.h"
#include "remediator/model/silent_alerts.h"
#include "remediator/model/step_facts.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Longest time between two checks of a step with a known time, because an operator may change the
// time.
constexpr milliseconds kLongestGateInterval = std::chrono::minutes(1);

bool is_behind_us(const StepRecord& record, const std::string& boot_id) {
  if (record.step == Step::kVerify) return is_verified_in(record, boot_id);
  if (record.result == StepResult::kDone) return true;
  return may_fail(record.step) && record.result == StepResult::kFailed;
}

// Returns when the last step ended.
WallTime last_done(const Remediation& remediation) {
  WallTime last{};
  for (const StepRecord& record : remediation.status.steps) {
    if (record.finished_at) last = std::max(last, *record.finished_at);
  }
  return last;
}

std::optional<Gate> delay_before(const PlannedStep& step, const Remediation& remediation,
                                 WallTime now) {
  const WallTime due = last_done(remediation) + step.before.delay;
  if (step.before.delay.count() == 0 || now >= due) return std::nullopt;
  const auto left = std::chrono::ceil<milliseconds>(due - now);
  return shut("wait.delay", std::string(to_string(step.step)) + " waits until " + to_rfc3339(due),
              std::min(left, kLongestGateInterval));
}

// Delays a drain until other failed nodes are tainted. A job on several unhealthy nodes then
// restarts once, and on none of them.
std::optional<Gate> taints_before(const PlannedStep& step, const DecisionInputs& inputs) {
  if (step.step != Step::kDrain || !inputs.has_untainted_elsewhere) return std::nullopt;
  return shut("guard.taint-first",
              "waiting until other failed nodes are tainted, so that evicted pods do not land "
              "there",
              seconds(1));
}

// Largest age of the heartbeat of a condition that justifies a drain. node-problem-detector sends a
// heartbeat every 5 minutes. A stopped detector leaves its last condition on the node.
constexpr std::chrono::minutes kConditionLasts{10};

bool is_fresh(const kube::Node& node, const ConditionSeen& seen, WallTime now) {
  const auto condition =
      std::ranges::find(node.conditions, seen.rule.type, &kube::NodeCondition::type);
  return condition != node.conditions.end() && condition->heartbeat &&
         std::chrono::abs(now - *condition->heartbeat) <= kConditionLasts;
}

// Returns whether a condition of the node is enough to drain it. The policy must allow it (`drain:
// true`), and the Remediation's worst evidence must be a condition that the node still has. A
// condition never justifies more than a drain.
bool condition_justifies_drain(const Policy& policy, const Remediation& remediation,
                               const kube::Node& node, WallTime now) {
  const auto seen = seen_conditions(policy.conditions, node);
  return std::ranges::any_of(remediation.alerts, [&](const AlertEvidence& alert) {
    if (!alert.firing() || alert.severity < remediation.acted_severity()) return false;
    return std::ranges::any_of(seen, [&](const ConditionSeen& condition) {
      return condition.rule.drains && condition.status == condition.rule.status &&
             fingerprint_of(condition.rule) == alert.fingerprint && is_fresh(node, condition, now);
    });
  });
}

// Returns whether the step rests on a condition only. The exporter's report and Alertmanager do not
// have the condition.
bool rests_on_a_condition(const PlannedStep& step, const Policy& policy,
                          const DecisionInputs& inputs, WallTime now) {
  return step.step == Step::kDrain &&
         condition_justifies_drain(policy, inputs.remediation, *inputs.node, now);
}

// Waits unless Alertmanager still has the alert without a silence. An operator stops the step by a
// silence.
std::optional<Gate> alerts_before(const PlannedStep& step, Draft& draft) {
  if (!is_disruptive(step.step)) return std::nullopt;
  const auto active = draft.asked.now().alerts();
  if (!active) return std::nullopt;
  if (!*active) return shut("guard.alertmanager", "Alertmanager does not answer");
  const Remediation& remediation = draft.remediation;
  const auto speaks = [&](const AlertEvidence& alert) {
    if ((!alert.firing() && !alert.contested) || remediation.is_drill_beside(alert)) return false;
    const auto said = (*active)->find(std::string(without_origin(alert.fingerprint)));
    return said != (*active)->end() &&
           std::min(said->second, alert.severity) >= remediation.evidence_severity();
  };
  if (std::ranges::any_of(remediation.alerts, speaks)) return std::nullopt;
  return shut("guard.silence", "Alertmanager has no unsilenced alert of severity " +
                                   std::string(to_string(remediation.evidence_severity())) +
                                   " for the node");
}

std::optional<Gate> proofs_before(const PlannedStep& step, Draft& draft) {
  const DecisionInputs& inputs = draft.inputs;
  const WallTime now = draft.now;
  const std::string what(to_string(step.step));
  const auto closed = [&](const std::string& why) {
    return shut(std::string(kProofRule), what + " of a silent node waits: " + why);
  };
  if (is_ready(*inputs.node)) return closed("the node is Ready again");
  if (inputs.remediation.status.pre_existing_cordon.value_or(false))
    return closed("the node was already cordoned by another controller or an operator");
  // The cloud starts a machine without power again, so only the move of its pods may run meanwhile.
  if (const auto work = maintenance_under_way(*inputs.node, now);
      work && step.step != Step::kOutOfService) {
    return shut(std::string(kCloudAtWorkRule),
                what + " of a silent node waits while the cloud works on its machine: " + *work);
  }
  const Result<MachineProofs>& proofs = draft.asked.proofs();
  if (!proofs) return closed(proofs.error().message);
  if (const auto why = objection_to_dead(*proofs, now)) return closed(*why);
  return std::nullopt;
}

// Checks the node right before a step disrupts it.
std::optional<Gate> node_before(const PlannedStep& step, Draft& draft) {
  const Policy& policy = draft.policy;
  const DecisionInputs& inputs = draft.inputs;
  const WallTime now = draft.now;
  if (!is_disruptive(step.step)) return std::nullopt;
  if (step.step == Step::kTerminate && inputs.remediation.is_drill())
    return shut(std::string(kDrillRule), "a drill does not terminate machines");
  if (const auto who =
          other_repairer(*inputs.node, policy.repairer_signs, now, policy.startup_grace)) {
    return shut("guard.other-repairer", *who);
  }
  if (rests_on_a_condition(step, policy, inputs, now)) return std::nullopt;
  if (rests_on_proofs(step.step, inputs.remediation)) return proofs_before(step, draft);
  const Result<HealthReport>& report = draft.asked.report();
  const std::string what = std::string(to_string(step.step)) + " needs fresh evidence: ";
  if (!report) return shut("guard.evidence", what + why_no_report(report.error()));
  // Maintenance needs an exporter that answers, but no fault of the machine.
  const Severity wanted = is_maintenance(policy, inputs.remediation)
                              ? Severity::kNone
                              : inputs.remediation.evidence_severity();
  if (const auto why =
          objection_to_disruption(*report, *inputs.node, wanted,
                                  {.after = {}, .max_age = policy.max_evidence_age, .now = now})) {
    const std::string back = rests_on_history(inputs.remediation)
                                 ? "; its machine was out of service under an earlier Node. If you "
                                   "know that it is healthy: "
                                   "gpuwardctl cancel " +
                                       inputs.remediation.node
                                 : "";
    return shut("guard.evidence", what + *why + back);
  }
  if (step.step != Step::kTerminate) return std::nullopt;
  if (const auto why = objection_to_the_end(*report, wanted, now))
    return shut("guard.evidence", what + *why);
  return std::nullopt;
}

std::optional<Gate> refused(const Answers::Slot& answer) {
  if (!answer) return shut("budget.ledger", "the budgets cannot be read");
  const auto& refusal = *answer;
  if (!refusal) return std::nullopt;
  Gate gate = shut(refusal->guard, refusal->message);
  if (refusal->is_worn_out) gate.verdict = Verdict::kEscalate;
  return gate;
}

std::string how_to_approve(const Remediation& remediation, const ApprovalRecord& record) {
  return std::string(to_string(record.step)) + " waits for approval: gpuwardctl approve " +
         remediation.node + " " + record.token;
}

// Checks the machine's history first, so that gpuward requests no approval for a step that it will
// not take.
std::optional<Gate> wear_before(const PlannedStep& step, Draft& draft) {
  if (!treatment_of(step.step)) return std::nullopt;
  return refused(draft.asked.now().worn_out(step.step));
}

// Waits while the API server does not guard approvals, and withdraws the token if the guard is
// missing, because any user could approve the step then.
std::optional<Gate> guard_before(const PlannedStep& step, Draft& draft) {
  const Status guard = draft.asked.now().approval_guard();
  if (guard) return std::nullopt;
  const Error& why = guard.error();
  Gate gate = shut("guard.approvals",
                   std::string(to_string(step.step)) + " needs an approval, but " + why.message);
  gate.withdraws_approval = why.kind == ErrorKind::kRefused;
  return gate;
}

}  // namespace

bool is_under_way(const StepRecord& record) {
  return record.result == StepResult::kIntended || record.result == StepResult::kRunning;
}

const StepRecord* counting_record(const Remediation& remediation, Step step) {
  const StepRecord* record = remediation.status.find(step);
  if (record == nullptr || is_taint_or_cordon(step)) return record;
  const bool is_its = record->severity == remediation.acted_severity();
  return is_its && remediation.counts(*record) ? record : nullptr;
}

const PlannedStep* next_step(const std::vector<PlannedStep>& plan, const Remediation& remediation,
                             const std::string& boot_id) {
  for (const PlannedStep& step : plan) {
    if (is_taint_or_cordon(step.step)) continue;
    const StepRecord* record = counting_record(remediation, step.step);
    if (record == nullptr || !is_behind_us(*record, boot_id)) return &step;
  }
  return nullptr;
}

std::optional<PlannedStep> step_under_way(const Policy& policy, const Remediation& remediation) {
  for (const StepRecord& record : remediation.status.steps) {
    if (is_taint_or_cordon(record.step) || record.step == Step::kReturn || !is_under_way(record))
      continue;
    // gpuward can leave a drain at any time, but not a reset of GPUs, a restart or an end of a
    // machine.
    const bool is_stale =
        record.severity != remediation.acted_severity() || !remediation.counts(record);
    const bool can_be_left = record.step != Step::kGpuReset && !is_of_the_machine(record.step);
    if (is_stale && can_be_left) continue;
    if (record.step == Step::kDrain && is_called_off(policy, remediation)) continue;
    return as_begun(policy, remediation, record);
  }
  return std::nullopt;
}

PlannedStep as_begun(const Policy& policy, const Remediation& remediation,
                     const StepRecord& record) {
  const auto& plan = list_begun(policy, remediation, record);
  const auto found = std::ranges::find(plan, record.step, &PlannedStep::step);
  if (found != plan.end()) return *found;
  PlannedStep forgotten = planned(record.step);
  forgotten.drain.excluded_namespaces = policy.excluded.namespaces;
  return forgotten;
}

bool has_begun(const Remediation& remediation) {
  return std::ranges::any_of(remediation.status.steps, [](const StepRecord& record) {
    return !is_taint_or_cordon(record.step) && record.step != Step::kReturn &&
           record.step != Step::kNotify;
  });
}

Phase phase_of(Step step) {
  switch (step) {
    case Step::kTaint:
    case Step::kCordon:
    case Step::kNotify:
      return Phase::kQuarantined;
    case Step::kCollectEvidence:
      return Phase::kCollecting;
    case Step::kOutOfService:
    case Step::kDrain:
    case Step::kRestartJob:
      return Phase::kDraining;
    case Step::kGpuReset:
      return Phase::kResetting;
    case Step::kReboot:
      return Phase::kRebooting;
    case Step::kQuarantineJob:
    case Step::kNcclTest:
    case Step::kNcclPairs:
      return Phase::kTesting;
    case Step::kTerminate:
      return Phase::kTerminating;
    case Step::kVerify:
      return Phase::kVerifying;
    case Step::kReturn:
      return Phase::kReleased;
  }
  return Phase::kQuarantined;
}

Gate shut(std::string rule, std::string message, milliseconds look_again) {
  return {.verdict = Verdict::kHold,
          .rule = std::move(rule),
          .message = std::move(message),
          .approval = {},
          .withdraws_approval = false,
          .look_again = look_again};
}

std::optional<Gate> window_before(const PlannedStep& step, const Policy& policy, WallTime now) {
  const std::string& name = step.before.window;
  if (name.empty()) return std::nullopt;
  const std::string what = std::string(to_string(step.step)) + " waits for the window " + name;
  const auto window = std::ranges::find(policy.windows, name, &MaintenanceWindow::name);
  if (window == policy.windows.end())
    return shut("wait.window", what + ", which the policy does not define");
  if (is_open(*window, now)) return std::nullopt;
  const WallTime opens = next_opening(*window, now);
  return shut("wait.window", what + ", which opens " + to_rfc3339(opens),
              std::min(std::chrono::ceil<milliseconds>(opens - now), kLongestGateInterval));
}

Gate gate_before(const PlannedStep& step, Draft& draft) {
  const Policy& policy = draft.policy;
  const DecisionInputs& inputs = draft.inputs;
  const WallTime now = draft.now;
  if (auto gate = delay_before(step, inputs.remediation, now)) return *gate;
  if (auto gate = window_before(step, policy, now)) return *gate;
  if (auto gate = maintenance_before(step, policy, inputs, now)) return *gate;
  if (auto gate = taints_before(step, inputs)) return *gate;
  if (auto gate = node_before(step, draft)) return *gate;
  if (!rests_on_a_condition(step, policy, inputs, now) &&
      !is_maintenance(policy, inputs.remediation) &&
      !rests_on_proofs(step.step, inputs.remediation)) {
    if (auto gate = alerts_before(step, draft)) return *gate;
  }
  Gate open;
  if (step.before.approval) {
    const ApprovalAnswer answer = approval_of(inputs.remediation, *inputs.node, step.step, now);
    if (!answer.is_given) {
      if (auto gate = wear_before(step, draft)) return *gate;
    }
    if (auto gate = guard_before(step, draft)) return *gate;
    if (!answer.is_given) {
      Gate gate = shut("guard.approval", how_to_approve(inputs.remediation, answer.record));
      gate.approval = answer.record;
      return gate;
    }
    open.approval = answer.record;
  }
  if (!is_disruptive(step.step)) return open;
  if (auto gate = refused(draft.asked.now().slot(step.step))) return *gate;
  return open;
}

}  // namespace gpuward::remediator
