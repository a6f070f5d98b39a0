#include "remediator/decide/budgets/budgets.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include "core/runtime/yaml_scalars.h"
#include "remediator/decide/budgets/slot_count.h"
#include "remediator/decide/budgets/storm.h"

namespace gpuward::remediator {
namespace {

using MaybeRefusal = std::optional<Refusal>;

Refusal refusal(std::string guard, std::string message) {
  return {std::move(guard), std::move(message), std::nullopt};
}

std::string of_allowed(int used, int allowed) {
  return std::to_string(used) + " of " + std::to_string(allowed) + " allowed";
}

// An upper bound of the nodes that are tainted or wait for a taint; cheap to compute.
std::ptrdiff_t most_tainted(const Ledger& ledger, const Fleet& fleet) {
  return std::ssize(ledger.slots) + std::ssize(ledger.taints) +
         std::ranges::count_if(fleet.nodes, [](const auto& entry) {
           return entry.second.tainted || entry.second.waits_for_taint;
         });
}

MaybeRefusal by_room(const Ledger& ledger, const SlotRequest& request, const Slot* held) {
  const bool is_raised = held != nullptr && held->impact > Impact::kTaint;
  const bool has_slots = is_raised || ledger.slots.size() < kMaxSlots;
  const bool has_history =
      ledger.starts.size() < kMaxStarts && ledger.attempts.size() < kMaxAttempts;
  if (has_slots && (has_history || request.impact == Impact::kCordon)) return std::nullopt;
  return refusal("budget.ledger", "the ledger is full: " + std::to_string(ledger.slots.size()) +
                                      " slots, " + std::to_string(ledger.starts.size()) +
                                      " starts, " + std::to_string(ledger.attempts.size()) +
                                      " attempts");
}

// Checks one request against one ledger; the first check that refuses gives the answer.
class SlotCheck {
 public:
  SlotCheck(const Ledger& ledger, const Fleet& fleet, const BudgetLimits& limits,
            const SlotRequest& request, WallTime now)
      : ledger_(ledger), fleet_(fleet), limits_(limits), request_(request), now_(now) {}

  [[nodiscard]] MaybeRefusal run() const {
    const Slot* held = ledger_.find(request_.remediation);
    if (request_.impact == Impact::kTaint) return is_taint_counted() ? std::nullopt : run_taint();
    if (ledger_.breaker.open) {
      return refusal("budget.breaker", "the circuit breaker is open: " + ledger_.breaker.why);
    }
    if (auto refused = by_census()) return refused;
    if (const auto storm = storm_over(fleet_, limits_, request_.node_uid))
      return refusal("budget.storm", storm->message());
    if (held != nullptr && held->impact >= request_.impact) return std::nullopt;
    if (auto refused = by_room(ledger_, request_, held)) return refused;
    if (!is_taint_counted()) {
      if (auto refused = by_taints()) return refused;
    }
    if (auto refused = by_cordons()) return refused;
    if (auto refused = by_min_healthy()) return refused;
    if (request_.impact == Impact::kCordon) return std::nullopt;
    if (auto refused = by_scopes()) return refused;
    return request_.impact == Impact::kTerminate ? by_terminations() : std::nullopt;
  }

 private:
  // The breaker does not stop taints: they evict nothing, and their own budget limits them.
  [[nodiscard]] MaybeRefusal run_taint() const {
    if (auto refused = by_census()) return refused;
    if (const auto storm = storm_behind(fleet_, limits_, request_.node_uid))
      return refusal("budget.storm", storm->message());
    if (ledger_.taints.size() >= kMaxTaints) {
      return refusal("budget.ledger",
                     "the ledger is full: " + std::to_string(ledger_.taints.size()) + " taints");
    }
    return by_taints();
  }

  // A taint that is set again is never refused.
  [[nodiscard]] bool is_taint_counted() const {
    return request_.is_tainted || ledger_.find(request_.remediation) != nullptr;
  }

  [[nodiscard]] MaybeRefusal by_taints() const {
    if (auto refused = by_taints_in(pool_scope(place().pool, "budget.taint"))) return refused;
    return by_taints_in(cluster_scope("budget.taint"));
  }

  [[nodiscard]] MaybeRefusal by_taints_in(const Scope& scope) const {
    const std::size_t nodes = nodes_in(fleet_, scope);
    const int allowed = at_most(limits_.tainted, nodes);
    if (most_tainted(ledger_, fleet_) < allowed) return std::nullopt;
    const int used = nodes_held(ledger_, fleet_, scope, Impact::kTaint, except());
    const std::string where = scope.name + " (" + std::to_string(nodes) + " nodes): ";
    if (used >= allowed)
      return refusal(scope.guard, where + of_allowed(used, allowed) + " are tainted");
    const int ahead = ahead_in(ledger_, fleet_, scope, limits_.tainted, request_.node_uid);
    if (used + ahead < allowed) return std::nullopt;
    return refusal(scope.guard,
                   where + of_allowed(used, allowed) + " are tainted; " + std::to_string(ahead) +
                       (ahead == 1 ? " node with worse or confirmed findings comes first"
                                   : " nodes with worse or confirmed findings come first"));
  }

  // A node that has left the census may finish the step that it has a slot for: it counts in its
  // old place.
  [[nodiscard]] MaybeRefusal by_census() const {
    if (fleet_.nodes.empty())
      return refusal("budget.census", "the node list is empty; no step is safe");
    if (fleet_.find(request_.node_uid) != nullptr) return std::nullopt;
    if (ledger_.find(request_.remediation) != nullptr) return std::nullopt;
    return refusal("budget.census", "node " + request_.node + " is not in the list of nodes");
  }

  [[nodiscard]] MaybeRefusal by_cordons() const {
    const Scope scope = pool_scope(place().pool, "budget.cordon");
    return at_once(scope, limits_.in_pool(place().pool).cordoned, Impact::kCordon, "cordoned");
  }

  [[nodiscard]] MaybeRefusal by_min_healthy() const {
    const Scope scope = pool_scope(place().pool);
    // A machine that is gone and not replaced does not make the pool smaller.
    const std::size_t nodes = nodes_in(fleet_, scope) + gone_in(ledger_, fleet_, scope);
    const int needed = at_least(limits_.in_pool(place().pool).min_healthy, nodes);
    if (needed <= 0) return std::nullopt;
    const int remaining = healthy_in(ledger_, fleet_, scope, except());
    if (remaining >= needed) return std::nullopt;
    return refusal("budget.min-healthy",
                   scope.name + " would be left with " + std::to_string(remaining) +
                       " healthy nodes; at least " + std::to_string(needed) + " must remain");
  }

  [[nodiscard]] MaybeRefusal by_scopes() const {
    if (auto refused = by_scope(cluster_scope(), limits_.cluster)) return refused;
    if (auto refused = by_scope(pool_scope(place().pool), limits_.in_pool(place().pool).disrupted))
      return refused;
    if (auto refused = by_scope(zone_scope(place().zone), limits_.zone)) return refused;
    for (const LabelLimit& label : limits_.labels) {
      const auto value = place().domains.find(label.label);
      if (value == place().domains.end()) continue;
      if (auto refused = by_scope(label_scope(label.label, value->second), label.limit))
        return refused;
    }
    return std::nullopt;
  }

  [[nodiscard]] MaybeRefusal by_scope(const Scope& scope, const ScopeLimit& limit) const {
    if (auto refused = at_once(scope, limit.at_once, Impact::kDisrupt, "being worked on"))
      return refused;
    for (const WindowLimit& window : limit.windows) {
      if (auto refused = within(scope, window, Impact::kDisrupt, "budget.window")) return refused;
    }
    return std::nullopt;
  }

  [[nodiscard]] MaybeRefusal by_terminations() const {
    for (const WindowLimit& window : limits_.terminations) {
      if (auto refused = within(cluster_scope(), window, Impact::kTerminate, "budget.terminate"))
        return refused;
    }
    return std::nullopt;
  }

  [[nodiscard]] MaybeRefusal at_once(const Scope& scope, const Share& share, Impact impact,
                                     const std::string& what) const {
    const std::size_t nodes = nodes_in(fleet_, scope);
    const int allowed = at_most(share, nodes);
    if (std::ssize(ledger_.slots) < allowed) return std::nullopt;
    const int used = nodes_held(ledger_, fleet_, scope, impact, except());
    if (used < allowed) return std::nullopt;
    return refusal(scope.guard, scope.name + " (" + std::to_string(nodes) +
                                    " nodes): " + of_allowed(used, allowed) + " are " + what);
  }

  [[nodiscard]] MaybeRefusal within(const Scope& scope, const WindowLimit& limit, Impact impact,
                                    std::string guard) const {
    const int allowed = at_most(limit.share, nodes_in(fleet_, scope));
    const Begun begun =
        begun_within(ledger_, scope, impact,
                     {.window = limit.window, .allowed = allowed, .now = now_}, except());
    if (begun.count < allowed) return std::nullopt;
    const std::string what = impact == Impact::kTerminate ? "terminations" : "disruptions";
    return Refusal{std::move(guard),
                   scope.name + ": " + of_allowed(begun.count, allowed) + " " + what +
                       " were started within " + to_duration_text(limit.window),
                   begun.room_in};
  }

  [[nodiscard]] const Place& place() const {
    if (const FleetNode* node = fleet_.find(request_.node_uid)) return node->place;
    return ledger_.find(request_.remediation)->place;  // by_census: one of them knows it
  }

  [[nodiscard]] Except except() const { return {request_.remediation, request_.node_uid}; }

  const Ledger& ledger_;
  const Fleet& fleet_;
  const BudgetLimits& limits_;
  const SlotRequest& request_;
  const WallTime now_;
};

// Lists the use of each limit, scope by scope.
class UseTable {
 public:
  UseTable(const Ledger& ledger, const Fleet& fleet) : ledger_(ledger), fleet_(fleet) {}

  void add(const Scope& scope, const Share& share, Impact impact) {
    uses_.push_back({scope.guard, scope.name, nodes_held(ledger_, fleet_, scope, impact),
                     at_most(share, nodes_in(fleet_, scope))});
  }
  void add_terminations(const WindowLimit& limit, WallTime now) {
    const int allowed = at_most(limit.share, fleet_.nodes.size());
    const Begun begun = begun_within(ledger_, cluster_scope(), Impact::kTerminate,
                                     {.window = limit.window, .allowed = allowed, .now = now});
    uses_.push_back(
        {"budget.terminate", "within " + to_duration_text(limit.window), begun.count, allowed});
  }
  std::vector<BudgetUse> take() { return std::move(uses_); }

 private:
  const Ledger& ledger_;
  const Fleet& fleet_;
  std::vector<BudgetUse> uses_;
};

}  // namespace

std::optional<Refusal> refuse_slot(const Ledger& ledger, const Fleet& fleet,
                                   const BudgetLimits& limits, const SlotRequest& request,
                                   WallTime now) {
  return SlotCheck(ledger, fleet, limits, request, now).run();
}

Slot slot_for(const Ledger& ledger, const Fleet& fleet, const SlotRequest& request, WallTime now) {
  Slot slot{.remediation = request.remediation,
            .node_uid = request.node_uid,
            .place = {},
            .impact = request.impact,
            .since = now};
  const Slot* held = ledger.find(request.remediation);
  if (const FleetNode* node = fleet.find(request.node_uid)) {
    slot.place = node->place;
  } else if (held != nullptr) {
    slot.place = held->place;
  }
  return slot;
}

std::vector<BudgetUse> budget_uses(const Ledger& ledger, const Fleet& fleet,
                                   const BudgetLimits& limits, WallTime now) {
  std::set<std::string> pools, zones;
  for (const auto& [uid, node] : fleet.nodes) {
    pools.insert(node.place.pool);
    zones.insert(node.place.zone);
  }
  UseTable report(ledger, fleet);
  report.add(cluster_scope(), limits.cluster.at_once, Impact::kDisrupt);
  report.add(cluster_scope("budget.taint"), limits.tainted, Impact::kTaint);
  for (const std::string& pool : pools) {
    const PoolLimits own = limits.in_pool(pool);
    report.add(pool_scope(pool), own.disrupted.at_once, Impact::kDisrupt);
    report.add(pool_scope(pool, "budget.taint"), limits.tainted, Impact::kTaint);
    report.add(pool_scope(pool, "budget.cordon"), own.cordoned, Impact::kCordon);
  }
  for (const std::string& zone : zones)
    report.add(zone_scope(zone), limits.zone.at_once, Impact::kDisrupt);
  for (const WindowLimit& limit : limits.terminations) report.add_terminations(limit, now);
  return report.take();
}

}  // namespace gpuward::remediator
