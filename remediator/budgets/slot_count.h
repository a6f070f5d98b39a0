// Counting for the budgets: which nodes hold slots in a scope (cluster, pool, zone, rack), and
// which disruptions began there within a window. Inside remediator/budgets only; pure.
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

// Some of the nodes, selected by their place.
struct Scope {
  std::string guard;  // in refusals
  std::string name;   // for people: "pool a"
  std::function<bool(const Place&)> holds;
};

[[nodiscard]] Scope cluster_scope(std::string guard = "budget.cluster");
[[nodiscard]] Scope pool_scope(const std::string& pool, std::string guard = "budget.pool");
[[nodiscard]] Scope zone_scope(const std::string& zone);
[[nodiscard]] Scope label_scope(const std::string& label, const std::string& value);

[[nodiscard]] std::size_t nodes_in(const Fleet& fleet, const Scope& scope);

// Machines that hold a slot in the scope and have left the census: they are gone, and their
// Remediations know of no replacement.
[[nodiscard]] std::size_t gone_in(const Ledger& ledger, const Fleet& fleet, const Scope& scope);

// The requester's own Remediation and node, which are not counted against it.
struct Except {
  std::string_view remediation, node_uid;
};

// Counts nodes with a slot of `impact` or higher that are in the scope now, or were when it was
// taken. Nodes with gpuward's taint count as tainted with or without a slot.
[[nodiscard]] int nodes_held(const Ledger& ledger, const Fleet& fleet, const Scope& scope,
                             Impact impact, const Except& except = {});

struct Begun {
  int count = 0;
  // How long until enough entries have left the window for one more.
  std::optional<std::chrono::milliseconds> room_in;
};

struct Span {
  std::chrono::milliseconds window{0};
  int allowed = 0;
  WallTime now;
};

// Counts Remediations that have begun `impact` or higher in the scope within the window; entries
// from the future are within it.
[[nodiscard]] Begun begun_within(const Ledger& ledger, const Scope& scope, Impact impact,
                                 const Span& span, const Except& except = {});

// Counts unhealthy nodes in the scope that wait for a taint and come before that node: those of
// higher severity, and at the same severity the confirmed ones. Among equal nodes the first to ask
// comes first. A node whose own pool has no room does not count, because it could not use this
// room.
[[nodiscard]] int ahead_in(const Ledger& ledger, const Fleet& fleet, const Scope& scope,
                           const Share& share, std::string_view node_uid);

// Counts healthy nodes in the scope that hold no slot.
[[nodiscard]] int healthy_in(const Ledger& ledger, const Fleet& fleet, const Scope& scope,
                             const Except& except);

}  // namespace gpuward::remediator
