#include "remediator/act/taint_and_cordon.h"

#include <algorithm>

#include "core/runtime/clock.h"
#include "remediator/act/actions/operand_pause.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/decide/status_change.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/ownership.h"
#include "remediator/policy/konduktor_taint.h"

namespace gpuward::remediator {
namespace {

bool wants(const PlanRequest& request, Step step) {
  return std::find(request.steps.begin(), request.steps.end(), step) != request.steps.end();
}

// Returns whether the node's cordon is not gpuward's. The annotation is absent or agrees with the
// record. After a completed return the record no longer counts.
bool has_foreign_cordon(const PlanRequest& request, const kube::Node& node,
                        const std::optional<OwnerAnnotation>& mark) {
  const RemediationStatus& status = request.remediation.status;
  const bool stands = status.has_done(Step::kCordon) && !may_be_returned(request.remediation, node);
  const bool is_known = stands || (mark && mark->cordon);
  return is_known ? status.pre_existing_cordon.value_or(node.unschedulable) : node.unschedulable;
}

kube::Taint our_taint(std::string value) {
  return {.key = std::string(kTaintKey),
          .value = std::move(value),
          .effect = std::string(kTaintEffect),
          .raw = {}};
}

OwnerAnnotation annotation_for(const PlanRequest& request, const kube::Node& node,
                               const std::optional<OwnerAnnotation>& present) {
  OwnerAnnotation mark;
  mark.name = request.remediation.name;
  mark.why = request.why;
  mark.severity = request.remediation.acted_severity();
  mark.taint = wants(request, Step::kTaint) || (present && present->taint);
  // An operator who removed the annotation has not taken over gpuward's cordon.
  mark.cordon = wants(request, Step::kCordon) ||
                (present ? present->cordon : is_own_cordon(request.remediation, node));
  mark.pre_existing_cordon = has_foreign_cordon(request, node, present);
  mark.since = present ? present->since : to_rfc3339(request.now);
  // Set only once. If an operator removed it, gpuward does not set it again.
  const bool is_wanted = request.konduktor_taint && wants(request, Step::kTaint);
  mark.konduktor = (present && present->konduktor) || (is_wanted && !has_konduktor_taint(node));
  return mark;
}

bool says_the_same(const std::optional<OwnerAnnotation>& mark, const OwnerAnnotation& wanted) {
  return mark && mark->severity == wanted.severity && mark->taint == wanted.taint &&
         mark->cordon == wanted.cordon && mark->konduktor == wanted.konduktor;
}

// Returns until when the machine may still restart by a Job with an ended pod; nullopt if no
// restart can come.
std::optional<WallTime> restarts_until(const Case& now, WallTime at) {
  const StepRecord* const record = now.remediation.status.find(Step::kReboot);
  if (record == nullptr) return std::nullopt;
  const bool is_same_boot = value_at(record->facts, kBootBeforeFact) == now.node->boot_id;
  const auto until = parse_rfc3339(value_at(record->facts, kRestartsBeforeFact));
  // Ignores a time too far in the future, which a replica with a fast clock may have written.
  const bool is_to_come = until && at < *until && *until - at <= 2 * kRestartsWithin;
  return is_same_boot && is_to_come ? until : std::nullopt;
}

}  // namespace

std::optional<NodePlan> plan_quarantine(const PlanRequest& request, const kube::Node& node) {
  const auto present = owner_annotation_on(node);
  const OwnerAnnotation mark = annotation_for(request, node, present);
  const std::string value(to_string(mark.severity));
  NodePlan plan;
  if (mark.taint && our_taint_on(node) != value) plan.change.set_taints = {our_taint(value)};
  // A contradicting annotation is not overwritten, and no cordon is claimed beside it.
  if (has_contradicting_annotation(request.remediation, node))
    return plan.change.set_taints.empty() ? std::nullopt : std::optional(plan);
  if (mark.cordon && !node.unschedulable) plan.change.unschedulable = true;
  if (plan.change.set_taints.empty() && !plan.change.unschedulable && says_the_same(present, mark))
    return std::nullopt;
  // If only the taint is set, nothing was learned about a cordon that may be gpuward's.
  if (mark.cordon) plan.pre_existing_cordon = mark.pre_existing_cordon;
  plan.change.set_annotations[std::string(kAnnotation)] = to_annotation(mark);
  if (mark.konduktor && !(present && present->konduktor))
    plan.change.set_taints.push_back(konduktor_taint());
  return plan;
}

std::optional<NodePlan> plan_release(const PlanRequest& request, const kube::Node& node) {
  const auto mark = owner_annotation_on(node);
  const bool tainted = our_taint_on(node).has_value();
  const bool cordoned = is_own_cordon(request.remediation, node);
  if (!has_our_taint_or_annotation(node) && !cordoned) return std::nullopt;
  NodePlan plan;
  if (tainted) plan.change.remove_taints.push_back(our_taint({}));
  if (mark && mark->konduktor && has_konduktor_taint(node))
    plan.change.remove_taints.push_back(konduktor_taint());
  if (node.meta.annotations.contains(std::string(kAnnotation)))
    plan.change.remove_annotations.emplace_back(kAnnotation);
  if (cordoned) plan.change.unschedulable = false;
  return plan;
}

Status TaintAndCordon::change(Case& now) {
  const Phase before = now.remediation.status.phase;
  const PlanRequest request{.remediation = now.remediation,
                            .steps = now.decision.steps,
                            .why = now.decision.message,
                            .now = parts_.clock.wall(),
                            .konduktor_taint = wants_konduktor_taint(*now.policy, now.remediation)};
  const bool releases = now.decision.verdict == Verdict::kRelease;
  if (const auto plan = (releases ? plan_release : plan_quarantine)(request, *now.node)) {
    if (auto allowed = parts_.permit(); !allowed)
      return records_.hold_stopped(now, allowed.error());
    const Verdict wanted = now.decision.verdict;
    if (auto status = change_node(now, *plan); !status) return status;
    // The decision changed meanwhile, for example to a hold.
    if (now.decision.verdict != wanted) return {};
  }
  const auto next = with_results(now.remediation.status, now.decision, now.policy->mode,
                                 pending_.time_of_change(now.remediation.name));
  if (next == now.remediation.status) return {};
  // The record can wait, because the node shows that it is tainted and for which Remediation.
  if (now.are_others_untainted && now.decision.verdict == Verdict::kQuarantine &&
      !has_contradicting_annotation(now.remediation, *now.node)) {
    pending_.put_off(now);
    return {};
  }
  if (auto status = records_.write(now, next); !status) return status;
  records_.audit(now, AuditMoment::kDone);
  records_.announce(now, before);
  return {};
}

// Returns whether the change is permitted for this Remediation, because an operator may have
// cancelled or paused it since it was read.
Status TaintAndCordon::permit_for(const std::string& remediation) {
  if (auto allowed = parts_.permit(); !allowed) return allowed;
  return reads_.ask(remediation, [&]() -> Status {
    const auto current = reader_.read_wish(remediation);
    return current ? Status() : std::unexpected(current.error());
  });
}

// Checks that the Remediation has not changed since the decision. Needed for a return that an
// earlier pass intended, because an alert or an operator's request may have come. After a conflict
// the decision starts again.
Status TaintAndCordon::check_unchanged(const Remediation& known) {
  const auto current = parts_.store.read(known.name);
  if (!current)
    return with_context("reading the Remediation before the return to service", current.error());
  if (current->resource_version == known.resource_version) return {};
  return fail(ErrorKind::kConflict, "the Remediation has changed since the return was decided");
}

// A user's pod would start just before the reset or restart. A node whose kubelet does not answer
// starts no pods, and does not report when pods end.
Status TaintAndCordon::check_no_disruptive_pod(const Case& now) {
  if (!is_ready(*now.node)) return {};
  if (const auto until = restarts_until(now, parts_.clock.wall())) {
    return fail(
        ErrorKind::kUnavailable,
        "the Job of reboot may have run, and the machine may restart until " + to_rfc3339(*until));
  }
  for (const Step step : {Step::kGpuReset, Step::kReboot}) {
    const StepRecord* const record = now.remediation.status.find(step);
    if (record == nullptr || !is_by_job(*record)) continue;
    const auto runs = has_pod_of(step, parts_.api, now.node->meta.name,
                                 value_at(record->facts, kJobNamespaceFact));
    if (!runs) return std::unexpected(runs.error());
    if (*runs)
      return fail(ErrorKind::kUnavailable,
                  "waiting for the pod of the Job of " + std::string(to_string(step)) + " to end");
  }
  return {};
}

Status TaintAndCordon::change_node(Case& now, const NodePlan& plan) {
  const std::string before_intent = now.remediation.resource_version;
  const RemediationStatus without_intent = now.remediation.status;
  if (now.decision.verdict == Verdict::kRelease) {
    if (auto status = steps_.abandon(now); !status) return status;
    if (auto status = check_no_disruptive_pod(now); !status) return status;
  }
  if (auto status = records_.write_intent(now, plan); !status) return status;
  // The intent was already in the record and was not written again, so an operator may have paused
  // the Remediation since the read.
  const bool is_stale = now.remediation.resource_version == before_intent;
  if (is_stale && now.decision.verdict == Verdict::kQuarantine) {
    if (auto allowed = permit_for(now.remediation.name); !allowed)
      return records_.hold_stopped(now, allowed.error());
  }
  if (is_stale && now.decision.verdict == Verdict::kRelease) {
    if (auto same = check_unchanged(now.remediation); !same) return same;
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
