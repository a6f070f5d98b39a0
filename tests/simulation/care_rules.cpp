#include "tests/simulation/care_rules.h"

#include <algorithm>

#include "remediator/policy/policy_for_remediation.h"

namespace gpuward::remediator::simulation {
namespace {

// Longest time between the inputs of a decision and the write of its result.
constexpr std::chrono::minutes kSlack{3};

const StepRecord* restart_of(const Remediation& remediation) {
  const StepRecord* const record = remediation.status.find(Step::kReboot);
  const bool counts = record != nullptr && record->result == StepResult::kDone && !record->drill;
  return counts ? record : nullptr;
}

}  // namespace

void require_not_excluded(const Stage& stage, const kube::Node& node, ExclusionsTruth::Said by,
                          const std::string& what) {
  const std::string why =
      stage.exclusions.binds(stage.looks.back()->identity, node, by, stage.clock.wall());
  require(why.empty(), "excluded-for-a-while", what + " and " + why);
}

void CareRules::on_intent(const Remediation& after, const StepRecord& record) const {
  const Look& look = *stage_.looks.back();
  const std::string what =
      std::string(to_string(record.step)) + " of " + after.name + " was intended";
  require_not_excluded(stage_, *look.node, {look.begun, stage_.clock.steady()}, what);
  if (stage_.setting.has_clock_jumps) return;
  const auto policy = policy_for(look.policy, &*look.node, after);
  check_window(*policy, record, what);
  check_rest(*policy, after, record, what);
}

void CareRules::check_window(const Policy& policy, const StepRecord& record,
                             const std::string& what) const {
  const auto& plan = plan_of(policy, policy.pool, record.severity);
  const auto step = std::ranges::find(plan, record.step, &PlannedStep::step);
  if (step == plan.end() || step->before.window.empty()) return;
  const auto is_open_at = [&](WallTime when) {
    return std::ranges::any_of(policy.windows, [&](const MaintenanceWindow& window) {
      return window.name == step->before.window && is_open(window, when);
    });
  };
  require(is_open_at(*record.intent_at) || is_open_at(*record.intent_at - kSlack), "window-shut",
          what + " outside of its maintenance window");
}

// Considers restarts in the records of other Remediations.
void CareRules::check_rest(const Policy& policy, const Remediation& after, const StepRecord& record,
                           const std::string& what) const {
  if (stage_.restores > 0) return;  // no ledger knows the actions since the backup
  for (const auto& [name, one] : stage_.truth.remediations()) {
    const StepRecord* const restart = restart_of(one);
    if (name == after.name || restart == nullptr || one.instance_id != after.instance_id) continue;
    const auto age = *record.intent_at - *restart->intent_at;
    require(age + kSlack >= policy.cooldown, "cooldown",
            what + " and the machine was restarted for " + name + " a moment ago");
  }
}

void CareRules::on_ledger_written(const Ledger& after) const {
  for (const Slot& slot : after.slots) {
    const Slot* const known = stage_.truth.ledger().find(slot.remediation);
    const bool is_new = known == nullptr || known->impact < Impact::kCordon;
    if (is_new && slot.impact >= Impact::kCordon) check_healthy(slot, after);
  }
}

// Judges by what the replica has surely heard.
void CareRules::check_healthy(const Slot& taken, const Ledger& after) const {
  const std::string& pool = taken.place.pool;
  const int needed = stage_.setting.policy.budgets.in_pool(pool).min_healthy.nodes;
  if (needed == 0 || stage_.truth.remediation(taken.remediation) == nullptr) return;
  int left = 0;
  for (const auto& [name, node] : stage_.truth.nodes()) {
    if (stage_.truth.place(name).pool != pool || node.node.meta.uid == taken.node_uid) continue;
    if (may_be_healthy(node, after)) ++left;
  }
  for (const auto& [name, place] : stage_.truth.places()) {
    const bool is_gone = stage_.truth.node(name) == nullptr;
    if (is_gone && place.pool == pool &&
        stage_.truth.changed(name) > stage_.looks.back()->heard_nodes)
      ++left;
  }
  require(left >= needed, "min-healthy",
          taken.remediation + " took a slot, and " + std::to_string(left) + " nodes of " + pool +
              " are left");
}

bool CareRules::may_be_healthy(const NodeTruth& node, const Ledger& after) const {
  const Look& look = *stage_.looks.back();
  if (stage_.truth.changed(node.node.meta.name) > look.heard_nodes) return true;
  const bool is_ready = std::ranges::any_of(node.node.conditions, [](const auto& condition) {
    return condition.type == "Ready" && condition.status == "True";
  });
  const bool has_slot = std::ranges::any_of(after.slots, [&](const Slot& slot) {
    return slot.node_uid == node.node.meta.uid && slot.impact >= Impact::kCordon;
  });
  return is_ready && !node.node.unschedulable && !has_slot;
}

}  // namespace gpuward::remediator::simulation
