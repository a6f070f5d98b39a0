#include "remediator/decide/budgets/slot_count.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace gpuward::remediator {
namespace {

std::string named(const std::string& kind, const std::string& value) {
  return value.empty() ? "nodes without a " + kind : kind + " " + value;
}

bool stands_in(const Slot& slot, const Fleet& fleet, const Scope& scope) {
  if (scope.holds(slot.place)) return true;
  const FleetNode* node = fleet.find(slot.node_uid);
  return node != nullptr && scope.holds(node->place);
}

// Nodes of the fleet count in their current place; the ledger holds few beyond them.
int tainted_in(const Ledger& ledger, const Fleet& fleet, const Scope& scope,
               std::string_view except) {
  const auto is_counted = [&](std::string_view uid, const FleetNode& node) {
    return node.tainted && uid != except && scope.holds(node.place);
  };
  const auto count = std::ranges::count_if(
      fleet.nodes, [&](const auto& entry) { return is_counted(entry.first, entry.second); });
  std::set<std::string_view> others;
  for (const auto* held : {&ledger.slots, &ledger.taints}) {
    for (const Slot& slot : *held) {
      const FleetNode* node = fleet.find(slot.node_uid);
      if (slot.node_uid == except || (node != nullptr && is_counted(slot.node_uid, *node)))
        continue;
      if (stands_in(slot, fleet, scope)) others.insert(slot.node_uid);
    }
  }
  return static_cast<int>(count + std::ssize(others));
}

bool comes_before(const FleetNode& node, const FleetNode* other) {
  return other != nullptr &&
         std::pair(node.severity, node.confirmed) > std::pair(other->severity, other->confirmed);
}

// When each Remediation last began such an impact in the scope.
std::vector<WallTime> times_begun(const Ledger& ledger, const Scope& scope, Impact impact,
                                  const Except& except) {
  std::map<std::string_view, WallTime> last;
  for (const Start& start : ledger.starts) {
    if (start.impact < impact || start.remediation == except.remediation) continue;
    if (!scope.holds(start.place)) continue;
    WallTime& at = last.try_emplace(start.remediation, start.at).first->second;
    at = std::max(at, start.at);
  }
  std::vector<WallTime> times;
  for (const auto& [remediation, at] : last) times.push_back(at);
  return times;
}

}  // namespace

Scope cluster_scope(std::string guard) {
  return {std::move(guard), "the cluster", [](const Place&) { return true; }};
}

Scope pool_scope(const std::string& pool, std::string guard) {
  return {std::move(guard), named("pool", pool),
          [pool](const Place& place) { return place.pool == pool; }};
}

Scope zone_scope(const std::string& zone) {
  return {"budget.zone", named("zone", zone),
          [zone](const Place& place) { return place.zone == zone; }};
}

Scope label_scope(const std::string& label, const std::string& value) {
  return {"budget.label", label + "=" + value, [label, value](const Place& place) {
            const auto found = place.domains.find(label);
            return found != place.domains.end() && found->second == value;
          }};
}

std::size_t nodes_in(const Fleet& fleet, const Scope& scope) {
  return static_cast<std::size_t>(std::ranges::count_if(
      fleet.nodes, [&](const auto& entry) { return scope.holds(entry.second.place); }));
}

std::size_t gone_in(const Ledger& ledger, const Fleet& fleet, const Scope& scope) {
  std::set<std::string_view> gone;
  for (const Slot& slot : ledger.slots) {
    if (fleet.find(slot.node_uid) == nullptr && scope.holds(slot.place)) gone.insert(slot.node_uid);
  }
  return gone.size();
}

int nodes_held(const Ledger& ledger, const Fleet& fleet, const Scope& scope, Impact impact,
               const Except& except) {
  if (impact == Impact::kTaint) return tainted_in(ledger, fleet, scope, except.node_uid);
  std::set<std::string_view> nodes;
  for (const Slot& slot : ledger.slots) {
    if (slot.impact >= impact && stands_in(slot, fleet, scope)) nodes.insert(slot.node_uid);
  }
  nodes.erase(except.node_uid);
  return static_cast<int>(nodes.size());
}

int ahead_in(const Ledger& ledger, const Fleet& fleet, const Scope& scope, const Share& share,
             std::string_view node_uid) {
  const FleetNode* const own = fleet.find(node_uid);
  std::vector<std::pair<std::string_view, const FleetNode*>> worse;
  for (const auto& [uid, node] : fleet.nodes) {
    const bool waits = node.waits_for_taint && !node.tainted;
    if (waits && comes_before(node, own) && scope.holds(node.place)) worse.emplace_back(uid, &node);
  }
  if (worse.empty()) return 0;
  std::set<std::string_view> have_slots;
  for (const auto* held : {&ledger.slots, &ledger.taints}) {
    for (const Slot& slot : *held) have_slots.insert(slot.node_uid);
  }
  std::map<std::string_view, int> by_pool;
  for (const auto& [uid, node] : worse) {
    if (!have_slots.contains(uid)) ++by_pool[node->place.pool];
  }
  int ahead = 0;
  for (const auto& [pool, waiting] : by_pool) {
    const Scope its = pool_scope(std::string(pool));
    const int room =
        at_most(share, nodes_in(fleet, its)) - nodes_held(ledger, fleet, its, Impact::kTaint);
    ahead += std::clamp(room, 0, waiting);
  }
  return ahead;
}

Begun begun_within(const Ledger& ledger, const Scope& scope, Impact impact, const Span& span,
                   const Except& except) {
  std::vector<WallTime> times = times_begun(ledger, scope, impact, except);
  std::erase_if(times, [&](WallTime at) { return span.now - at >= span.window; });
  std::ranges::sort(times);
  Begun begun{.count = static_cast<int>(times.size()), .room_in = std::nullopt};
  if (begun.count < span.allowed || span.allowed <= 0) return begun;
  const WallTime leaving = times[static_cast<std::size_t>(begun.count - span.allowed)];
  begun.room_in = std::chrono::ceil<std::chrono::milliseconds>(leaving + span.window - span.now);
  return begun;
}

int healthy_in(const Ledger& ledger, const Fleet& fleet, const Scope& scope, const Except& except) {
  std::set<std::string_view> held;
  for (const Slot& slot : ledger.slots) held.insert(slot.node_uid);
  return static_cast<int>(std::ranges::count_if(fleet.nodes, [&](const auto& entry) {
    const auto& [uid, node] = entry;
    return scope.holds(node.place) && node.healthy() && uid != except.node_uid &&
           !held.contains(uid);
  }));
}

}  // namespace gpuward::remediator
