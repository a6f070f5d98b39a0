#include "remediator/execution/mark_execution.h"

#include "remediator/actions/action.h"
#include "remediator/decision/status_change.h"
#include "remediator/guards/konduktor_taint.h"

namespace gpuward::remediator {

Status MarkExecution::change(Case& now) {
  const Phase before = now.remediation.status.phase;
  const ActionOrder order{.remediation = now.remediation,
                          .steps = now.decision.steps,
                          .why = now.decision.message,
                          .now = parts_.clock.wall(),
                          .konduktor_taint = wants_konduktor_taint(*now.policy, now.remediation)};
  if (const auto plan = action(action_of(now.decision.verdict)).plan(order, *now.node)) {
    if (auto allowed = permits_.for_any(); !allowed)
      return records_.hold_back(now, allowed.error());
    const Verdict wanted = now.decision.verdict;
    if (auto status = change_node(now, *plan); !status) return status;
    if (now.decision.verdict != wanted) return {};  // held back
  }
  const auto next = with_results(now.remediation.status, now.decision, now.policy->mode,
                                 pending_.time_of_change(now.remediation.name));
  if (next == now.remediation.status) return {};
  // The node itself says that it is marked, and whose mark it is.
  if (now.are_others_unmarked && now.decision.verdict == Verdict::kQuarantine) {
    pending_.put_off(now);
    return {};
  }
  if (auto status = records_.write(now, next); !status) return status;
  records_.audit(now, AuditMoment::kDone);
  records_.announce(now, before);
  return {};
}

Status MarkExecution::change_node(Case& now, const NodePlan& plan) {
  const std::string before_intent = now.remediation.resource_version;
  const RemediationStatus without_intent = now.remediation.status;
  if (now.decision.verdict == Verdict::kRelease) {
    if (auto status = steps_.abandon(now); !status) return status;
  }
  if (auto status = records_.write_intent(now, plan); !status) return status;
  // An intent that stood already was not written: an operator may have said pause since the read.
  const bool is_stale = now.remediation.resource_version == before_intent;
  if (is_stale && now.decision.verdict == Verdict::kQuarantine) {
    if (auto allowed = permits_.for_remediation(now.remediation.name); !allowed)
      return records_.hold_back(now, allowed.error());
  }
  const auto changed = parts_.api.change_node(*now.node, plan.change);
  if (!changed) {
    records_.withdraw_intent(now, changed.error(), without_intent);
    return records_.write_failure(now, changed.error());
  }
  parts_.view.note_own_change(*changed);
  pending_.note_change(now.remediation.name);
  return {};
}

}  // namespace gpuward::remediator
