#include "tests/simulation/invariants.h"

#include <algorithm>

#include "core/runtime/clock.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/model/evidence.h"
#include "remediator/model/history_alerts.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/out_of_service.h"
#include "remediator/model/silent_alerts.h"
#include "remediator/policy/policy_for_remediation.h"
#include "tests/fakes/kube_objects.h"
#include "tests/simulation/operands.h"
#include "tests/simulation/silent_nodes.h"

namespace gpuward::remediator::simulation {
namespace {

// A replica asks the switch after it has weighed the report; here the answer may take this long.
constexpr std::chrono::seconds kOnTheWay{45};
// The same for the slot, which a replica takes by a view and weighs before it asks the switch.
constexpr std::chrono::seconds kSlotOnTheWay{2 * kOnTheWay};

// A taint removes no workload, so a replica may use a list of exclusions that is this old,
// including the time on the wire.
constexpr std::chrono::seconds kOldestList{15 + 60};

bool is_ours(const kube::Taint& taint) { return taint.key == kTaintKey; }

bool is_of_a_silent_node(const kube::Taint& taint) {
  const kube::Taint ours = out_of_service_taint();
  return taint.key == ours.key && taint.value == ours.value;
}

// The taints of others, in their order.
std::vector<std::string> foreign_taints(const kube::Node& node) {
  std::vector<std::string> taints;
  for (const kube::Taint& taint : node.taints) {
    if (!is_ours(taint) && !is_of_a_silent_node(taint))
      taints.push_back(taint.key + "=" + taint.value + ":" + taint.effect);
  }
  return taints;
}

}  // namespace

void Invariants::on_node_written(const NodeTruth& before, const kube::Node& after) {
  const std::string& name = after.meta.name;
  require(stage_.looks.back()->node->meta.resource_version == before.node.meta.resource_version,
          "stale-write", "node " + name + " was changed as it was, not as it is");
  require(foreign_taints(before.node) == foreign_taints(after), "foreign-taint",
          "taints of others on " + name + " were changed");
  const bool uncordons = before.node.unschedulable && !after.unschedulable;
  require(!uncordons || !before.is_foreign_cordon, "foreign-cordon",
          "another user cordoned " + name);
  check_not_stopped("node " + name + " was changed");
  if (before.node.meta.labels != after.meta.labels)
    return check_operand_labels(stage_, before.node, after);
  const auto mark = owner_annotation_on(after);
  if (before.mark && !mark) check_returned(before);
  if (!mark) return;
  const Remediation* owner = stage_.truth.remediation(mark->name);
  // If the annotation names another Remediation, the taint beside it belongs to the one that acts.
  const bool is_of_another = before.mark && before.mark->name == mark->name;
  if (is_of_another && (owner == nullptr || !owner->open()))
    owner = taint_and_cordon_.open_for(before);
  if (stage_.edited_since(after.meta.uid, stage_.looks.back()->begun)) return;
  // The record was there and open when the request was sent; a restore or another leader has
  // changed that since. check_rest() requires the removal of this taint and cordon.
  const Look& look = *stage_.looks.back();
  const bool was_open = owner == nullptr ? look.restores != stage_.restores
                                         : !owner->open() && taint_and_cordon_.was_closed_since(
                                                                 owner->name, look.sent);
  if (was_open) return stage_.note_edit(after.meta.uid);
  require(owner != nullptr && owner->open(), "orphan-marks",
          "node " + name + " was marked for " + mark->name + ", which is not open");
  require(owner->node_uid == after.meta.uid, "node-identity",
          "node " + name + " was marked for another node of that name");
  on_marks_put(*owner, before, after);
}

// Unless an operator asked for it, a node is returned only if it is Ready and a report of this look
// says that it is healthy: a verification may be a day old.
void Invariants::check_returned(const NodeTruth& before) const {
  const Remediation* const owner = stage_.truth.remediation(before.mark->name);
  // A restore may have lost an operator's request right after a replica read it.
  const bool is_restored = stage_.looks.back()->restores != stage_.restores;
  if (is_restored && stage_.truth.was_given_back(before.mark->name)) return;
  if (owner == nullptr || owner->wish.cancel) return;
  if (owner->deleting || !owner->open()) return;  // the annotation was edited, or is an old one
  if (owner->wish.machine_replaced && rests_on_history(*owner)) return;
  announced_.check_returned(*owner, before.node);
  jobs_.check_returned(*owner, before.node);
  const auto& report = stage_.looks.back()->report;
  require(report && report->severity < Severity::kReset && report->is_settled &&
              report->boot_id == before.node.boot_id,
          "well", "node " + owner->node + " was returned and no report says that it is healthy");
  require(!before.node.meta.labels.contains("nvidia.com/mig.config.state"), "others",
          "node " + owner->node + " was returned and others are at work on it");
  require(is_ready(before.node), "well", "node " + owner->node + " was returned and is not Ready");
}

void Invariants::check_mode(Step step, const kube::Node& node, const std::string& what) const {
  const auto& labels = node.meta.labels;
  const bool is_allowed = allows(policy_for(stage_.looks.back()->policy, labels)->mode, step) ||
                          allows(stage_.meant_for(node)->mode, step);  // newer than the look
  require(is_allowed, "mode", what + " and the mode does not allow it");
}

void Invariants::check_silence(const Remediation& after, const std::string& what) const {
  if (!stage_.setting.has_alertmanager) return;
  const bool speaks = std::ranges::any_of(after.alerts, [&](const AlertEvidence& alert) {
    const auto silenced = stage_.silenced.find(std::string(without_origin(alert.fingerprint)));
    return silenced == stage_.silenced.end() || silenced->second > stage_.looks.back()->begun;
  });
  require(speaks, "silence", what + " and every alert is silenced");
}

// The replica may have asked the switch since, and the answer may have taken long.
void Invariants::check_view(const std::string& what) const {
  const auto age = stage_.clock.steady() - stage_.looks.back()->listened;
  require(age <= kOldestView + kSlotOnTheWay, "stale-view", what + " by a view that is too old");
}

void Invariants::on_marks_put(const Remediation& owner, const NodeTruth& before,
                              const kube::Node& after) {
  const Look& look = *stage_.looks.back();
  const std::string& name = after.meta.name;
  drills_.check_marked(owner, before.node);
  require(!exclusion_of(*look.policy, before.node), "excluded",
          "node " + name + " is excluded and was marked");
  require_not_excluded(stage_, before.node, {look.begun, stage_.clock.steady() - kOldestList},
                       "node " + name + " was marked");
  check_hands_off(owner.name, "node " + name + " was marked");
  // An edit of the annotation hides a removal of the taint or cordon.
  const bool is_taken = before.taken_back && before.taken_from == owner.name &&
                        !stage_.edited_since(after.meta.uid, 0);
  require(!is_taken || *before.taken_back > look.begun, "human-override",
          "node " + name + " was marked again after a human took the mark back");
  if (!before.is_tainted && std::ranges::any_of(after.taints, is_ours)) {
    check_mode(Step::kTaint, after, "node " + name + " was tainted");
    taints_.check_put(owner);
  }
  if (before.node.unschedulable || !after.unschedulable) return;
  check_mode(Step::kCordon, after, "node " + name + " was cordoned");
  ledger_.check_slot(owner, Impact::kCordon, "node " + name + " was cordoned");
}

void Invariants::on_remediation_written(const Remediation* before, const Remediation& after) {
  ends_.on_written(before, after);
  pairs_.on_written(before, after);
  taint_and_cordon_.on_written(before, after);
  if (before == nullptr) return;
  evidence_.on_written(*before, after);
  calls_.on_written(*before, after);
  for (const auto& rule : stage_.on_rewritten) rule(*before, after);
  jobs_.on_written(*before, after);
  announced_.on_written(*before, after);
  drills_.on_written(*before, after);
  for (const AlertEvidence& known : before->alerts) {
    const bool is_kept = std::ranges::any_of(after.alerts, [&](const AlertEvidence& alert) {
      return alert.fingerprint == known.fingerprint;
    });
    require(is_kept || before->alerts.size() >= kMaxEvidence, "evidence-kept",
            after.name + " has forgotten the alert " + known.fingerprint);
  }
  const bool is_worn_out = after.status.escalated_to != before->status.escalated_to &&
                           after.status.message.contains("on this machine or one of its GPUs");
  if (is_worn_out) ledger_.check_worn_out(after);
  const bool has_become_real = before->is_drill() && !after.is_drill();
  require(after.severity >= before->severity || has_become_real, "evidence-kept",
          after.name + " is less severe now");
  for (const StepRecord& record : after.status.steps) {
    if (!is_disruptive(record.step) || record.result != StepResult::kIntended) continue;
    const StepRecord* const known = before->status.find(record.step);
    // A step that began in a drill may begin for a real fault in the same second.
    const bool is_new = known == nullptr || known->intent_at != record.intent_at ||
                        known->attempts != record.attempts;
    if (is_new) on_intent(*before, after, record);
  }
}

void Invariants::check_was_read(const Remediation& before) const {
  const auto& versions = stage_.looks.back()->versions;
  const auto known = versions.find(before.name);
  require(known != versions.end() && known->second == before.resource_version, "stale-write",
          before.name + " was written over what was not read");
}

void Invariants::on_intent(const Remediation& before, const Remediation& after,
                           const StepRecord& record) {
  const Look& look = *stage_.looks.back();
  const std::string what = std::string(to_string(record.step)) + " of " + after.name;
  require(!before.wish.pause && !before.wish.cancel, "paused", what + " was intended");
  require(look.node.has_value() && look.node->meta.uid == after.node_uid, "node-identity",
          what + " was intended for another node");
  require(!exclusion_of(*look.policy, *look.node), "excluded", what + " was intended");
  require(!look.node->meta.labels.contains("nvidia.com/mig.config.state"), "others",
          what + " was intended while others are at work");
  const NodeTruth* const node = stage_.truth.node(after.node);
  require(node == nullptr || !node->taken_back || *node->taken_back > look.begun, "human-override",
          what + " was intended after a human took the marks back");
  check_not_stopped(what + " was intended");
  check_mode(record.step, *look.node, what + " was intended");
  drills_.check_intent(after, record);
  const bool is_silent = rests_on_proofs(record.step, after);
  const bool is_announced = announced_.check_drain(after, record);
  if (!is_silent && !is_announced) check_silence(after, what + " was intended");
  check_view(what + " was intended");
  const bool is_end = record.step == Step::kTerminate;
  ledger_.check_slot(after, is_end ? Impact::kTerminate : Impact::kDisrupt, what + " was intended");
  ledger_.check_storm(after, what + " was intended");
  care_.on_intent(after, record);
  if (is_silent) {
    check_proofs(stage_, after, record);
  } else {
    check_evidence(after, record, is_announced ? Severity::kNone : after.evidence_severity());
  }
  check_approval(after, record);
  if (record.step > Step::kDrain && !is_silent) {
    ends_.check_drained(after, what);
    newcomers_.check_empty(after, look.begun, what);
  }
  if (!is_end) return;
  if (!is_silent) check_measured(after, record);
  ends_.on_intent(after, record);
}

// A finding that is only latched, and not measured now, ends no machine.
void Invariants::check_measured(const Remediation& after, const StepRecord& record) const {
  const HealthReport& report = *stage_.looks.back()->report;
  if (report.diagnostics_severity >= after.evidence_severity()) return;
  const auto most = kStateLasts + kOnTheWay;
  const bool is_measured = std::ranges::any_of(report.observed_at, [&](const auto& observed) {
    const auto age = *record.intent_at - observed.second;
    return observed.first >= after.evidence_severity() && age <= most && -age <= most;
  });
  require(is_measured, "measured",
          "terminate of " + after.name + " was intended on what nothing has measured lately");
}

void Invariants::check_evidence(const Remediation& after, const StepRecord& record,
                                Severity wanted) const {
  const Look& look = *stage_.looks.back();
  const std::string what = std::string(to_string(record.step)) + " of " + after.name;
  require(look.report.has_value(), "fresh-evidence", what + " was intended without a report");
  require(look.report->boot_id == look.node->boot_id, "fresh-evidence",
          what + " was intended on a report of another boot");
  const auto age = *record.intent_at - look.report->measured_at;
  const auto most = look.policy->max_evidence_age + kOnTheWay;
  require(age <= most && -age <= most, "fresh-evidence", what + " was intended on an old report");
  const HealthReport report = after.is_drill() ? with_drill(*look.report) : *look.report;
  require(report.severity >= wanted, "fresh-evidence", what + " was intended on a report of less");
  require(report.confirmed_severity >= wanted, "line-only",
          what + " was intended on a line of the kernel log alone");
}

void Invariants::check_approval(const Remediation& after, const StepRecord& record) const {
  const Look& look = *stage_.looks.back();
  const auto policy = policy_for(look.policy, &*look.node, after);
  const auto& plan = plan_of(*policy, policy->pool, record.severity);
  const auto step = std::ranges::find(plan, record.step, &PlannedStep::step);
  if (step == plan.end() || !step->before.approval) return;
  const std::string what = std::string(to_string(record.step)) + " of " + after.name;
  require(after.status.approval.has_value(), "approval", what + " was intended without a yes");
  const auto yes = humans_.yeses().find(after.status.approval->token);
  require(yes != humans_.yeses().end(), "approval", what + " was intended without a yes");
  require(yes->second.remediation == after.name && yes->second.node_uid == after.node_uid &&
              yes->second.step == record.step,
          "approval", what + " was intended on a yes to something else");
  for (const AlertEvidence& alert : after.alerts) {
    require(yes->second.fingerprints.contains(alert.fingerprint), "approval",
            what + " was intended on a yes to other evidence");
  }
}

void Invariants::on_reboot_asked(const remediator::Machine& order, bool is_on_its_way) {
  const std::string what = "restart of " + order.node + " for " + order.remediation;
  const Remediation* const owner = stage_.truth.remediation(order.remediation);
  require(owner != nullptr, "intent", what + ": no such Remediation");
  const StepRecord* const record = owner->status.find(Step::kReboot);
  require(record != nullptr && record->result <= StepResult::kRunning, "intent",
          what + " was asked for without an intent");
  const std::string attempt = order.remediation + "/" + std::to_string(record->attempts);
  require(++asked_[attempt] == 1, "once", what + " was asked for twice");
  calls_.check_not_treated(order, what);
  require(!is_on_its_way, "in-flight", what + " was asked for while it restarts");
  const Look& look = *stage_.looks.back();
  require(look.node && look.node->meta.uid == order.node_uid && order.node_uid == owner->node_uid,
          "node-identity", what + " is of another node");
  require(!owner->wish.pause && !owner->wish.cancel, "paused", what + " was asked for");
  drills_.check_call(order.remediation, Step::kReboot, look.node_read);
  check_not_stopped(what);
}

void Invariants::on_end_asked(const remediator::Machine& order) {
  ends_.on_asked(order);
  drills_.check_call(order.remediation, Step::kTerminate, stage_.looks.back()->node_read);
  check_not_stopped("the end of " + order.provider_id + " was asked for");
}

void Invariants::on_eviction(const Remediation& remediation, const kube::Node&) {
  const Remediation* const owner = stage_.truth.remediation(remediation.name);
  require(owner != nullptr && !owner->wish.pause && !owner->wish.cancel, "paused",
          "pods were evicted for " + remediation.name);
  check_not_stopped("pods were evicted for " + remediation.name);
}

void Invariants::on_job_made(const Json& job) {
  ++stage_.jobs_made;
  const std::string what = "Job " + string_at(job["metadata"], "name") + " was made";
  const Step step = *parse_step(fakes::label_of(job, "gpuward.dev/step"));
  if (step == Step::kNcclPairs) {
    (void)pairs_.on_job_made(job, what);
  } else {
    jobs_.on_made(job, step);
  }
  check_mode(step, *stage_.looks.back()->node, what);
  const std::string remediation = fakes::annotation_of(job, "gpuward.dev/remediation");
  drills_.check_call(remediation, step, stage_.looks.back()->node_read);
  check_hands_off(remediation, what);
  check_not_stopped(what);
}

void Invariants::on_job_suspended(const std::string& remediation, const std::string& what) const {
  const Look& look = *stage_.looks.back();
  require(look.node.has_value() && !exclusion_of(*look.policy, *look.node), "excluded", what);
  check_mode(Step::kRestartJob, *look.node, what);
  drills_.check_call(remediation, Step::kRestartJob, look.node_read);
  check_hands_off(remediation, what);
  check_not_stopped(what);
}

void Invariants::on_restored(const BackedUp& backup) {
  restore_.on_restored(backup);
  ledger_.forget();
  ends_.forget();
  announced_.on_restored();
  drills_.on_restored();
  asked_.clear();
}

// The replica could know each wish that came before the last answer that it got.
void Invariants::check_hands_off(const std::string& remediation, const std::string& what) const {
  const auto since = stage_.truth.hands_off_since(remediation);
  const Look& look = *stage_.looks.back();
  require(!since || *since > look.told, "paused", what + " though a human has said hands off");
}

void Invariants::check_not_stopped(const std::string& what) const {
  const Look& look = *stage_.looks.back();
  const Tick known = std::max(look.begun, look.permitted);
  require(!stage_.stopped_at || *stage_.stopped_at > known, "stopped",
          what + " though everything is to stop");
}

}  // namespace gpuward::remediator::simulation
