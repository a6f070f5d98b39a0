#include "tests/simulation/ledger_rules.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace gpuward::remediator::simulation {
namespace {

bool is_disrupted(const Remediation& remediation) {
  return remediation.open() &&
         (remediation.status.find(Step::kDrain) || remediation.status.find(Step::kReboot));
}

// Considers the exporter's own rules only: other sources use other names, and each name is a storm
// of its own.
bool fires_as_others_do(const AlertEvidence& alert) {
  return alert.firing() && alert.alertname == "GpuNodeBad";
}

bool is_cordoned_by_us(const NodeTruth& node) {
  return node.mark && node.mark->cordon && !node.mark->pre_existing_cordon &&
         node.node.unschedulable;
}

const std::string kCluster = "the cluster";

// Counts by place.
using Counts = std::map<std::string, int>;

// `nodes`: the number of nodes there ever were, by place; no census had more.
void require_at_most(const Counts& counts, const Counts& nodes, const Share& most,
                     const std::string& what) {
  for (const auto& [where, count] : counts) {
    require(count <= at_most(most, static_cast<std::size_t>(nodes.at(where))), "budget",
            std::to_string(count) + " nodes of " + where + " are " + what + " at once");
  }
}

}  // namespace

void LedgerRules::forget() {
  begun_.clear();
  ended_.clear();
  arrived_.clear();
}

void LedgerRules::check_budgets() const {
  const BudgetLimits& limits = stage_.setting.policy.budgets;
  Counts cluster, pools, zones, racks, cordoned;
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    if (!is_disrupted(remediation)) continue;
    const Place& place = stage_.truth.place(remediation.node);
    ++cluster[kCluster];
    ++pools[place.pool];
    ++zones[place.zone];
    for (const auto& [label, rack] : place.domains) ++racks[rack];
  }
  for (const auto& [name, node] : stage_.truth.nodes()) {
    if (is_cordoned_by_us(node) && !stage_.edited_since(node.node.meta.uid, 0))
      ++cordoned[stage_.truth.place(name).pool];
  }
  Counts all;
  for (const auto& [name, place] : stage_.truth.places()) {
    for (const std::string& where : {kCluster, place.pool, place.zone}) ++all[where];
    for (const auto& [label, rack] : place.domains) ++all[rack];
  }
  require_at_most(cluster, all, limits.cluster.at_once, "disrupted");
  for (const auto& [pool, count] : pools) {
    require_at_most({{pool, count}}, all, limits.in_pool(pool).disrupted.at_once, "disrupted");
  }
  require_at_most(zones, all, limits.zone.at_once, "disrupted");
  require_at_most(racks, all, limits.labels.front().limit.at_once, "disrupted");
  for (const auto& [pool, count] : cordoned) {
    require_at_most({{pool, count}}, all, limits.in_pool(pool).cordoned, "cordoned");
  }
}

void LedgerRules::check_slot(const Remediation& remediation, Impact impact,
                             const std::string& what) const {
  const Slot* const slot = stage_.truth.ledger().find(remediation.name);
  require(slot != nullptr && slot->impact >= impact, "slot",
          what + " without a slot in the ledger");
  const auto opened = stage_.truth.breaker_opened();
  require(!opened || *opened > stage_.looks.back()->begun, "breaker",
          what + " though the circuit breaker is open");
}

void LedgerRules::on_ledger_written(const Ledger& after) {
  const Tick changed = stage_.truth.ledger_changed();
  const auto told = stage_.ledger_told.find(stage_.looks.back()->who);
  const bool is_known = told != stage_.ledger_told.end() && told->second >= changed;
  require(changed == 0 || is_known, "stale-write",
          "the ledger was replaced as it was, not as it is");
  require(!stage_.truth.breaker_opened() || after.breaker.open, "breaker",
          "the circuit breaker was closed by no human");
  check_kept(after);
  for (const Slot& slot : after.slots) {
    if (slot.impact == Impact::kTerminate) check_terminations(slot);
    if (slot.impact < Impact::kDisrupt || !begun_.try_emplace(slot.remediation, slot.since).second)
      continue;
    check_windows(slot);
  }
  check_arrivals(after);
}

// Judges by what the replica has surely heard.
void LedgerRules::check_storm(const Remediation& of, const std::string& what) const {
  if (std::ranges::none_of(of.alerts, fires_as_others_do)) return;
  const WindowLimit& storm = stage_.setting.policy.budgets.storm;
  const Look& look = *stage_.looks.back();
  std::map<std::string_view, WallTime> by_node;  // counts one Remediation per node
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    const NodeTruth* const node = stage_.truth.node(remediation.node);
    const bool is_known = node != nullptr && node->node.meta.uid == remediation.node_uid &&
                          stage_.truth.changed(name) <= look.heard_remediations &&
                          stage_.truth.changed(remediation.node) <= look.heard_nodes;
    if (!is_known || !remediation.open()) continue;
    const auto firing = std::ranges::find_if(remediation.alerts, fires_as_others_do);
    if (firing != remediation.alerts.end())
      by_node.try_emplace(remediation.node_uid, firing->first_received);
  }
  std::vector<WallTime> onsets;
  for (const auto& [node_uid, onset] : by_node) onsets.push_back(onset);
  std::ranges::sort(onsets);
  const auto trigger = static_cast<std::size_t>(storm.share.nodes);
  for (std::size_t i = trigger; i <= onsets.size(); ++i) {
    require(onsets[i - 1] - onsets[i - trigger] > storm.window, "storm",
            what + " and " + std::to_string(trigger) + " nodes have got the same at once");
  }
}

void LedgerRules::check_worn_out(const Remediation& remediation) const {
  const bool was_treated =
      std::ranges::any_of(stage_.truth.ledger().attempts, [&](const Attempt& attempt) {
        const bool is_own =  // a deleted one may have had the name
            attempt.remediation == remediation.name && attempt.at >= remediation.created;
        return !is_own && attempt.hardware.instance_id == remediation.instance_id;
      });
  require(was_treated, "own-attempts",
          remediation.name +
              " pays for what was done to other machines: " + remediation.status.message);
}

void LedgerRules::check_kept(const Ledger& after) const {
  const Ledger& before = stage_.truth.ledger();
  require(after.starts.size() >= before.starts.size(), "ledger-kept", "a start was forgotten");
  require(after.attempts.size() >= before.attempts.size(), "ledger-kept",
          "an attempt was forgotten");
  // A Remediation that was closed when the replica began its look may be open again.
  if (stage_.looks.back()->restores != stage_.restores) return;
  for (const Slot& slot : before.taints) {
    const Remediation* const holder = stage_.truth.remediation(slot.remediation);
    require(holder == nullptr || !holder->open() || after.find(slot.remediation) != nullptr,
            "ledger-kept", "the slot of the taint of " + slot.remediation + " is lost");
  }
  for (const Slot& slot : before.slots) {
    const Remediation* const holder = stage_.truth.remediation(slot.remediation);
    require(holder == nullptr || !holder->open() || after.find(slot.remediation) != nullptr,
            "ledger-kept", "the slot of " + slot.remediation + " is lost");
  }
}

// After a jump of the clock the length of a window is unknown.
void LedgerRules::check_windows(const Slot& begun) const {
  if (stage_.setting.has_clock_jumps) return;
  for (const WindowLimit& limit : stage_.setting.policy.budgets.cluster.windows) {
    const auto count = std::ranges::count_if(begun_, [&](const auto& known) {
      const auto ago = begun.since - known.second;
      return ago >= ago.zero() && ago < limit.window;
    });
    require(count <= limit.share.nodes, "window",
            std::to_string(count) + " disruptions were begun within a window");
  }
}

void LedgerRules::check_terminations(const Slot& begun) {
  const bool is_new = ended_.try_emplace(begun.remediation, begun.since).second;
  if (!is_new || stage_.setting.has_clock_jumps) return;
  for (const WindowLimit& limit : stage_.setting.policy.budgets.terminations) {
    const auto count = std::ranges::count_if(ended_, [&](const auto& known) {
      const auto ago = begun.since - known.second;
      return ago >= ago.zero() && ago < limit.window;
    });
    require(count <= limit.share.nodes, "terminate-budget",
            std::to_string(count) + " ends of machines were begun within a window");
  }
}

void LedgerRules::check_arrivals(const Ledger& after) {
  if (stage_.truth.closings() != closings_) arrived_.clear();
  closings_ = stage_.truth.closings();
  for (const Arrival& arrival : after.arrivals) {
    if (!arrival.seen) arrived_.try_emplace(arrival.remediation, arrival);
  }
  if (stage_.setting.has_clock_jumps || after.breaker.open) return;
  const WindowLimit& limit = stage_.setting.policy.budgets.breaker;
  std::set<std::string> nodes;
  for (const auto& [name, arrival] : arrived_) {
    if (stage_.clock.wall() - arrival.at < limit.window) nodes.insert(arrival.node_uid);
  }
  require(nodes.size() <= static_cast<std::size_t>(limit.share.nodes), "breaker",
          std::to_string(nodes.size()) + " nodes have come at once and the breaker is closed");
}

}  // namespace gpuward::remediator::simulation
