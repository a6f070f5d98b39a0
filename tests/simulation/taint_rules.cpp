#include "tests/simulation/taint_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace gpuward::remediator::simulation {

namespace {

// Drills come last.
Severity severity_in_order(const Remediation& remediation) {
  return remediation.is_drill() ? Severity::kNone : remediation.acted_severity();
}

bool has_slot(const Ledger& ledger, const std::string& node_uid) {
  const auto is_its = [&](const Slot& slot) { return slot.node_uid == node_uid; };
  return std::ranges::any_of(ledger.slots, is_its) || std::ranges::any_of(ledger.taints, is_its);
}

}  // namespace

void limit_taints(Setting& setting, Chance& chance) {
  if (setting.tests_pairs || setting.nodes > 40 || !chance.happens(0.4)) return;
  Share& most = setting.policy.budgets.tainted;
  most = {chance.between(1, std::max(2, setting.nodes / 3)), 0};
  if (setting.nodes > 16 || !chance.happens(0.4)) return;
  // Many nodes compete for one or two taints.
  setting.nodes = chance.between(5, 9);
  setting.events += 100;
  most.nodes = chance.between(1, 2);
}

void TaintRules::check_put(const Remediation& owner) const {
  const Slot* const slot = stage_.truth.ledger().find(owner.name);
  require(slot != nullptr, "slot",
          "node " + owner.node + " was tainted without a slot in the ledger");
}

// Judges by what the replica has surely heard: if it took the last room for a taint, no more severe
// node waited for it.
void TaintRules::on_ledger_written(const Ledger& after) const {
  const Ledger& before = stage_.truth.ledger();
  const auto most = static_cast<std::size_t>(stage_.setting.policy.budgets.tainted.nodes);
  std::set<std::string_view> nodes;
  for (const auto* held : {&after.slots, &after.taints}) {
    for (const Slot& slot : *held) nodes.insert(slot.node_uid);
  }
  if (nodes.size() != most) return;
  for (const auto* held : {&after.slots, &after.taints}) {
    for (const Slot& slot : *held) {
      const Remediation* const taken = stage_.truth.remediation(slot.remediation);
      if (taken != nullptr && !has_slot(before, slot.node_uid)) check_order(*taken);
    }
  }
}

void TaintRules::check_order(const Remediation& taken) const {
  const NodeTruth* const own = stage_.truth.node(taken.node);
  if (own != nullptr && own->is_tainted) return;  // this is not a new taint
  const Look& look = *stage_.looks.back();
  for (const auto& [name, other] : stage_.truth.remediations()) {
    const NodeTruth* const node = stage_.truth.node(other.node);
    const bool waits = node != nullptr && node->node.meta.uid == other.node_uid && other.open() &&
                       other.status.rule == "budget.taint" && !node->is_tainted &&
                       !has_slot(stage_.truth.ledger(), other.node_uid) &&
                       stage_.truth.changed(name) <= look.heard_remediations &&
                       stage_.truth.changed(other.node) <= look.heard_nodes;
    require(!waits || severity_in_order(other) <= severity_in_order(taken), "taint-order",
            taken.name + " took the last room for a taint, and the worse " + name + " waits");
  }
}

void TaintRules::check_budget() const {
  std::map<std::string, int> tainted;  // by pool
  int all = 0;
  for (const auto& [name, node] : stage_.truth.nodes()) {
    if (!node.is_tainted) continue;
    // An operator closed its record by hand, so it has no slot any more. It counts when a replica
    // has heard of it.
    const std::string& uid = node.node.meta.uid;
    if (stage_.edited_since(uid, 0) && !has_slot(stage_.truth.ledger(), uid)) continue;
    ++tainted[stage_.truth.place(name).pool];
    ++all;
  }
  const int most = stage_.setting.policy.budgets.tainted.nodes;
  require(all <= most, "budget", std::to_string(all) + " nodes are tainted at once");
  for (const auto& [pool, count] : tainted)
    require(count <= most, "budget", std::to_string(count) + " nodes of " + pool + " are tainted");
}

}  // namespace gpuward::remediator::simulation
