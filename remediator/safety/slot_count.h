// Counting for the budgets: which nodes hold slots in a scope (cluster, pool, zone, rack), and what
// was begun there within a window. Inside remediator/safety only; pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "remediator/safety/fleet.h"
#include "remediator/safety/ledger.h"

namespace gpuward::remediator {

// Some of the nodes, by where they stand.
struct Scope {
  std::string guard;  // that a refusal names
  std::string name;   // for people: "pool a"
  std::function<bool(const Place&)> holds;
};

[[nodiscard]] Scope cluster_scope();
[[nodiscard]] Scope pool_scope(const std::string& pool, std::string guard = "budget.pool");
[[nodiscard]] Scope zone_scope(const std::string& zone);
[[nodiscard]] Scope label_scope(const std::string& label, const std::string& value);

[[nodiscard]] std::size_t nodes_in(const Fleet& fleet, const Scope& scope);

// What belongs to the one who asks and is not counted against him.
struct Except {
  std::string_view remediation, node_uid;
};

// Nodes with a slot of `harm` or worse that stand, or stood when it was taken, in the scope.
[[nodiscard]] int nodes_held(const Ledger& ledger, const Fleet& fleet, const Scope& scope,
                             Harm harm, const Except& except = {});

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

// Remediations that have begun `harm` or worse in the scope within the window; entries from the
// future are within it.
[[nodiscard]] Begun begun_within(const Ledger& ledger, const Scope& scope, Harm harm,
                                 const Span& span, const Except& except = {});

// Nodes in the scope that are well and hold no slot.
[[nodiscard]] int healthy_in(const Ledger& ledger, const Fleet& fleet, const Scope& scope,
                             const Except& except);

}  // namespace gpuward::remediator
