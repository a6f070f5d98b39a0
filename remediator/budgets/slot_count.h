// Counting for the budgets: which nodes hold slots in a scope (cluster, pool, zone, rack), and what
// was begun there within a window. Inside remediator/safety only; pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "remediator/budgets/ledger.h"
#include "remediator/model/fleet.h"

namespace gpuward::remediator {

// Some of the nodes, by where they stand.
struct Scope {
  std::string guard;  // that a refusal names
  std::string name;   // for people: "pool a"
  std::function<bool(const Place&)> holds;
};

[[nodiscard]] Scope cluster_scope(std::string guard = "budget.cluster");
[[nodiscard]] Scope pool_scope(const std::string& pool, std::string guard = "budget.pool");
[[nodiscard]] Scope zone_scope(const std::string& zone);
[[nodiscard]] Scope label_scope(const std::string& label, const std::string& value);

[[nodiscard]] std::size_t nodes_in(const Fleet& fleet, const Scope& scope);

// Machines that hold a slot in the scope and are no nodes of the census any more: gone, and not
// replaced as far as their Remediations know.
[[nodiscard]] std::size_t gone_in(const Ledger& ledger, const Fleet& fleet, const Scope& scope);

// What belongs to the one who asks and is not counted against him.
struct Except {
  std::string_view remediation, node_uid;
};

// Nodes with a slot of `impact` or worse that stand, or stood when it was taken, in the scope.
// Those that bear our taint count as tainted with a slot or without.
[[nodiscard]] int nodes_held(const Ledger& ledger, const Fleet& fleet, const Scope& scope,
                             Impact impact, const Except& except = {});

struct Begun {
  int count = 0;
  // When the last that must leave the window for one more to fit has left it.
  std::optional<std::chrono::milliseconds> room_in;
};

struct Span {
  std::chrono::milliseconds window{0};
  int allowed = 0;
  WallTime now;
};

// Remediations that have begun `impact` or worse in the scope within the window; entries from the
// future are within it.
[[nodiscard]] Begun begun_within(const Ledger& ledger, const Scope& scope, Impact impact,
                                 const Span& span, const Except& except = {});

// Unhealthy nodes in the scope that wait to be tainted and come before that one: the worse ones,
// and of those that are as bad the confirmed ones. Of nodes that wait alike the first to ask is
// first. None that its own pool keeps waiting: it cannot use the room.
[[nodiscard]] int ahead_in(const Ledger& ledger, const Fleet& fleet, const Scope& scope,
                           const Share& share, std::string_view node_uid);

// Nodes in the scope that are well and hold no slot.
[[nodiscard]] int healthy_in(const Ledger& ledger, const Fleet& fleet, const Scope& scope,
                             const Except& except);

}  // namespace gpuward::remediator
