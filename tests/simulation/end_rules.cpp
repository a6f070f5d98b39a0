#include "tests/simulation/end_rules.h"

#include <algorithm>

#include "remediator/model/step_call.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator::simulation {
namespace {

// A test that could not run proves nothing about the machine.
bool has_failed_test(const RemediationStatus& status) {
  const StepRecord* const test = status.find(Step::kQuarantineJob);
  return test != nullptr && test->result == StepResult::kFailed &&
         test->facts.contains(kHasRunFact) && !status.has_done(Step::kGpuReset) &&
         !status.has_done(Step::kReboot);
}

bool was_given_up(const Remediation& remediation) {
  const bool was_severe =
      !remediation.is_drill() && remediation.acted_severity() >= Severity::kReset;
  return remediation.status.phase == Phase::kSuperseded &&
         (was_severe || has_failed_test(remediation.status)) && !remediation.wish.machine_replaced;
}

}  // namespace

void EndRules::forget() {
  may_ask_.clear();
  arrived_.clear();
  last_.clear();
  have_any_.clear();
  replaces_.clear();
}

void EndRules::check_drained(const Remediation& after, const std::string& what) const {
  require(drained_.contains(drain_of(after)), "drained",
          what + " was intended and its pods are not gone");
}

void EndRules::on_intent(const Remediation& after, const StepRecord& record) {
  require(record.facts.contains("instanceID"), "intent",
          "an end was intended for " + after.name + " that names no machine");
  may_ask_.insert(after.name);
}

void EndRules::on_asked(const remediator::Machine& order) {
  const std::string what = "the end of " + order.provider_id + " for " + order.remediation;
  const Remediation* const owner = stage_.truth.remediation(order.remediation);
  require(owner != nullptr, "intent", what + ": no such Remediation");
  const StepRecord* const record = owner->status.find(Step::kTerminate);
  require(record != nullptr && record->result <= StepResult::kRunning, "intent",
          what + " was asked for without an intent");
  require(may_ask_.erase(order.remediation) == 1, "once",
          what + " was asked for twice with one intent");
  require(!arrived_.contains(order.remediation), "once",
          what + " was asked for again after it had arrived");
  require(record->facts.at("instanceID") == order.provider_id, "instance",
          what + " is not what was intended");
  require(order.node_uid == owner->node_uid, "node-identity", what + " is of another node");
  require(!owner->wish.pause && !owner->wish.cancel, "paused", what + " was asked for");
  check_volumes(*owner, order.node, what);
}

// Considers the volumes that were attached before the replica began its look.
void EndRules::check_volumes(const Remediation& owner, const std::string& node,
                             const std::string& what) const {
  const auto volumes = stage_.volumes.find(node);
  if (volumes == stage_.volumes.end()) return;
  const Tick begun = stage_.looks.back()->begun;
  if (std::ranges::none_of(volumes->second, [&](const auto& v) { return v.second <= begun; }))
    return;
  const StepRecord& end = *owner.status.find(Step::kTerminate);
  const auto policy = policy_for_silence(stage_.looks.back()->policy, owner);
  const auto& plan = plan_of(*policy, end.pool, owner.acted_severity());
  const auto step = std::ranges::find(plan, Step::kTerminate, &PlannedStep::step);
  if (step == plan.end()) return;
  const StepRecord* const drain = owner.status.find(Step::kDrain);
  const bool is_late = drain == nullptr || !drain->finished_at ||
                       stage_.clock.wall() - *drain->finished_at >= step->volumes.deadline;
  require(step->volumes.proceeds && is_late, "volumes",
          what + " was asked for while volumes are attached");
}

void EndRules::on_accepted(const remediator::Machine& order, const std::string& ended) {
  require(order.provider_id == ended, "instance",
          ended + " was ended for " + order.remediation + ", which meant " + order.provider_id);
  arrived_.insert(order.remediation);
}

// Keeps the order of the Nodes' first Remediations. A replica that is behind may open one more for
// a Node that is gone; an operator's word about the next Node counts all the same.
void EndRules::note_opened(const Remediation& opened) {
  const bool is_first = have_any_.emplace(opened.instance_id, opened.node_uid).second;
  LastOpened& last = last_[opened.instance_id];
  if (is_first || last.node_uid == opened.node_uid) last = {opened.name, opened.node_uid};
}

void EndRules::on_written(const Remediation* before, const Remediation& after) {
  if (before == nullptr) arrived_.erase(after.name);  // the name of one that was deleted by force
  if (before == nullptr) note_opened(after);
  if (before == nullptr) return;
  check_not_forgotten(*before, after);
  const bool is_done = after.status.has_done(Step::kTerminate);
  if (is_done && !before->status.has_done(Step::kTerminate))
    check_gone(after, "the end of the machine of " + after.name + " is done");
  if (after.status.phase != Phase::kReplaced || !before->open()) return;
  check_gone(after, after.name + " is Replaced");
  check_replacement(after);
}

// If the cloud ends the machine for a Remediation, the record must know it, and must end as
// Replaced once that is proven.
void EndRules::check_not_forgotten(const Remediation& before, const Remediation& after) const {
  const bool is_given_up = after.status.phase == Phase::kSuperseded && before.open();
  if (!is_given_up || !arrived_.contains(after.name) || stage_.wiped.contains(after.name)) return;
  const StepRecord* const record = after.status.find(Step::kTerminate);
  const std::string what = after.name + " is Superseded, and its machine was ended for it";
  require(record != nullptr, "end-forgotten", what + ", of which it does not know");
  const auto call = record->facts.find("call");
  const bool is_known = call != record->facts.end() && call->second == "accepted";
  require(!is_known || !stage_.truth.is_gone(record->facts.at("instanceID")), "end-forgotten",
          what + " and is gone");
}

void EndRules::check_replacement(const Remediation& remediation) {
  const StepRecord& end = *remediation.status.find(Step::kTerminate);
  const auto policy = policy_for_silence(stage_.looks.back()->policy, remediation);
  const bool is_waited_for = replacement_wait(plan_of(*policy, end.pool, end.severity)) != nullptr;
  const StepRecord* const wait = remediation.status.find(Step::kVerify);
  const bool has_come = wait != nullptr && wait->result == StepResult::kDone;
  if (!is_waited_for && !has_come) return;  // perhaps the policy has changed while it waited
  const std::string what = remediation.name + " is Replaced and ";
  require(has_come, "replacement", what + "nothing was waited for");
  const auto node = stage_.truth.joined(wait->facts.at("replacementUID"));
  require(node.has_value(), "replacement", what + "no such node has ever joined");
  const StepRecord* const drain = remediation.status.find(Step::kDrain);
  const WallTime since = *(drain != nullptr && drain->intent_at ? drain : &end)->intent_at;
  require(node->created >= std::chrono::floor<std::chrono::seconds>(since), "replacement",
          what + node->name + " was there before");
  require(stage_.truth.place(node->name).pool == stage_.truth.place(remediation.node).pool,
          "replacement", what + node->name + " is of another pool");
  const auto [known, is_first] = replaces_.try_emplace(node->uid, remediation.name);
  require(is_first || known->second == remediation.name, "replacement",
          what + node->name + " counts for " + known->second + " already");
}

void EndRules::check_gone(const Remediation& remediation, const std::string& what) const {
  const StepRecord* const record = remediation.status.find(Step::kTerminate);
  require(record != nullptr && record->facts.contains("instanceID") &&
              stage_.truth.is_gone(record->facts.at("instanceID")),
          "replaced", what + " and the machine is not gone");
  const NodeTruth* const node = stage_.truth.node(remediation.node);
  require(node == nullptr || node->node.meta.uid != remediation.node_uid, "replaced",
          what + " and the Node is still there");
}

void EndRules::check_known(const NodeTruth& node) const {
  const auto last = last_.find(node.node.provider_id);
  if (last == last_.end()) return;
  const Remediation* const opened = stage_.truth.remediation(last->second.name);
  if (opened == nullptr) return;  // an operator has deleted it
  const Remediation& remediation = *opened;
  const bool is_known = std::ranges::any_of(stage_.truth.remediations(), [&](const auto& known) {
    return known.second.node_uid == node.node.meta.uid;
  });
  // Two Nodes are ordered by the times of their first Remediations.
  std::optional<WallTime> first = remediation.created;
  for (const auto& [name, one] : stage_.truth.remediations()) {
    if (one.node_uid == remediation.node_uid) first = std::min(first, one.created);
  }
  // The API server's times have whole seconds, and its clock may have gone back: an operator's word
  // of the same second or later counts as the last one.
  const bool is_answered = std::ranges::any_of(stage_.truth.remediations(), [&](const auto& known) {
    const Remediation& other = known.second;
    const bool is_word = other.status.phase == Phase::kCancelled || other.wish.machine_replaced;
    const bool is_of_node = other.node_uid == remediation.node_uid;
    return other.instance_id == remediation.instance_id &&
           other.created >= (is_of_node ? remediation.created : first) && is_word;
  });
  require(is_known || is_answered || !was_given_up(remediation), "returned",
          node.node.meta.name + " has come back after " + remediation.name +
              " has given it up, and nobody has noticed");
}

void EndRules::check_held(const Remediation& remediation) const {
  const StepRecord* const record = remediation.status.find(Step::kTerminate);
  const StepRecord* const wait = remediation.status.find(Step::kVerify);
  if (remediation.status.has_done(Step::kTerminate) && wait != nullptr) {
    const bool is_for_a_human = needs_operator(remediation.status.phase);
    require(is_for_a_human, "held", remediation.name + " has no replacement and is not held");
  }
  if (record == nullptr || record->result != StepResult::kFailed) return;
  const NodeTruth* const node = stage_.truth.node(remediation.node);
  const auto policy = node == nullptr ? stage_.meant.get() : stage_.meant_for(node->node);
  const Phase phase = remediation.status.phase;
  if (phase == Phase::kPaused || node == nullptr || exclusion_of(*policy, node->node)) return;
  if (!allows(policy->mode, Step::kTerminate)) return;  // the mode was lowered after the failure
  require(phase == Phase::kHeld, "held",
          "the end of " + remediation.name + "'s machine has failed, and it is " +
              std::string(to_string(phase)) + ": " + remediation.status.message);
}

}  // namespace gpuward::remediator::simulation
