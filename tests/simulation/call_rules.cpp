#include "tests/simulation/call_rules.h"

#include <algorithm>

namespace gpuward::remediator::simulation {
namespace {

bool says_accepted(const StepRecord& record) {
  const auto call = record.facts.find("call");
  return call != record.facts.end() && call->second == "accepted";
}

}  // namespace

bool CallRules::has_restarted(const Remediation& remediation) const {
  const StepRecord* const record = remediation.status.find(Step::kReboot);
  if (record == nullptr || record->drill) return false;
  return record->result == StepResult::kDone ||
         (says_accepted(*record) && taken_for_.contains(remediation.name));
}

void CallRules::check_not_treated(const remediator::Machine& order, const std::string& what) const {
  for (const auto& [name, one] : stage_.truth.remediations()) {
    const bool is_other = name != order.remediation && one.instance_id == order.provider_id;
    require(!is_other || !has_restarted(one), "repeated",
            what + ": the machine was restarted for " + name + " already");
  }
}

// A deleted Job ends before it acts, and a node on which a Job acts gets no work. The replica is
// not responsible for a record that others closed or emptied by hand.
void CallRules::on_restarted(const remediator::Machine& order) const {
  const std::string what = "the Job of reboot restarts " + order.node;
  check_not_treated(order, what);
  const Remediation* const owner = stage_.truth.remediation(order.remediation);
  const bool is_edited =
      stage_.wiped.contains(order.remediation) || stage_.closed_by_hand.contains(order.remediation);
  if (owner == nullptr || is_edited) return;
  require(owner->open() || owner->status.phase == Phase::kSuperseded, "late-restart",
          what + ", and " + order.remediation + " is closed");
}

// The text contains the tick, if there is one: a wish that was withdrawn and repeated is a
// different one.
std::string CallRules::forbidden(const remediator::Machine& order, Step step) const {
  if (stage_.stopped_at) return "everything is to stop since " + std::to_string(*stage_.stopped_at);
  if (const auto since = stage_.truth.hands_off_since(order.remediation))
    return "a human has said hands off at " + std::to_string(*since);
  if (!allows(stage_.meant.get()->mode, step)) return "the mode does not allow it";
  const NodeTruth* const node = stage_.truth.node(order.node);
  if (node == nullptr || node->node.meta.uid != order.node_uid) return {};
  const auto policy = stage_.meant_for(node->node);
  if (!allows(policy->mode, step)) return "the mode of its pool does not allow it";
  if (const auto why = exclusion_of(*policy, node->node)) return *why;
  return stage_.exclusions.binds(stage_.looks.back()->identity, node->node,
                                 {stage_.tick + 1, stage_.clock.steady()}, stage_.clock.wall());
}

void CallRules::check_leave(const remediator::Machine& order, Step step,
                            const std::string& before) const {
  require(before.empty() || before != forbidden(order, step), "leave",
          std::string(to_string(step)) + " of " + order.node + " was asked for although " + before);
}

void CallRules::check_leads(const remediator::Machine& order, Step step) const {
  const std::string& caller = stage_.looks.back()->identity;
  require(stage_.holder == caller, "leader",
          caller + " asks for the " + std::string(to_string(step)) + " of " + order.node +
              ", and " + stage_.holder + " has the lease");
}

void CallRules::on_written(const Remediation& before, const Remediation& after) const {
  if (after.status.escalated_to > before.status.escalated_to) check_escalation(before, after);
  check_remembered(before, after);
  check_words(after);
}

void CallRules::check_escalation(const Remediation& before, const Remediation& after) const {
  const StepRecord* const reboot = before.status.find(Step::kReboot);
  const bool has_failed = reboot != nullptr && reboot->result == StepResult::kFailed &&
                          reboot->severity == before.acted_severity();
  require(!has_failed || taken_for_.contains(after.name), "escalation",
          after.name + " takes what is worse, and its restart was never accepted");
  if (!after.status.message.contains("reboot was already done on this machine")) return;
  // Only the ledger knows a Remediation that an operator has deleted.
  const bool is_unknown = std::ranges::any_of(stage_.truth.ledger().attempts, [&](const auto& one) {
    const Remediation* const made = stage_.truth.remediation(one.remediation);
    return made == nullptr || (made->created && one.at < *made->created);
  });
  if (is_unknown) return;
  const bool is_so = std::ranges::any_of(stage_.truth.remediations(), [&](const auto& known) {
    const Remediation& one = known.second;
    const StepRecord* const record = one.status.find(Step::kReboot);
    const bool is_restart =
        taken_for_.contains(one.name) || (record != nullptr && record->result == StepResult::kDone);
    return one.name != after.name && one.instance_id == after.instance_id && is_restart;
  });
  require(is_so, "escalation",
          after.name + " takes what is worse: " + after.status.message + ", and nobody has");
}

// Applies while the intent is the same.
void CallRules::check_remembered(const Remediation& before, const Remediation& after) const {
  for (const Step step : {Step::kReboot, Step::kTerminate}) {
    const StepRecord* const known = before.status.find(step);
    if (known == nullptr || !says_accepted(*known)) continue;
    const StepRecord* const now = after.status.find(step);
    const bool is_kept =
        now != nullptr && (now->intent_at != known->intent_at || says_accepted(*now));
    require(is_kept, "accepted",
            after.name + " has forgotten that " + std::string(to_string(step)) + " was accepted");
  }
}

void CallRules::check_words(const Remediation& after) const {
  for (const Step step : {Step::kReboot, Step::kTerminate}) {
    const StepRecord* const record = after.status.find(step);
    if (record == nullptr || !record->message.starts_with("not done in time")) continue;
    require(taken_for_.contains(after.name), "words",
            after.name + " says of " + std::string(to_string(step)) + " \"" + record->message +
                "\", and it was never accepted");
  }
}

}  // namespace gpuward::remediator::simulation
