// Counts for the budgets which nodes hold slots in a scope (cluster, pool, zone, rack), and which
// disruptions began in the scope within a window. Pure; used only inside remediator/decide/budgets.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "remediator/decide/budgets/ledger.h"
#include "remediator/model/fleet.h"

namespace gpuward::remediator {

// A set of nodes, selected by their place.
struct Scope {
  std::string guard;  // Rule that a refusal names.
  std::string name;   // Text for people: "pool a".
  std::function<bool(const Place&)> holds;
};

[[nodiscard]] Scope cluster_scope(std::string guard = "budget.cluster");
[[nodiscard]] Scope pool_scope(const std::string& pool, std::string guard = "budget.pool");
[[nodiscard]] Scope zone_scope(const std::string& zone);
[[nodiscard]] Scope label_scope(const std::string& label, const std::string& value);

[[nodiscard]] std::size_t nodes_in(const Fleet& fleet, const Scope& scope);

// Returns the number of machines that hold a slot in the scope and have left the census. The
// machines are gone, and their Remediations know of no replacement.
[[nodiscard]] std::size_t gone_in(const Ledger& ledger, const Fleet& fleet, const Scope& scope);

// The requester's own Remediation and node, which do not count against the request.
struct Except {
  std::string_view remediation, node_uid;
};

// Returns the number of nodes with a slot of `impact` or higher that are in the scope now, or were
// in it when the slot was taken. Nodes with gpuward's taint count as tainted with or without a
// slot.
[[nodiscard]] int nodes_held(const Ledger& ledger, const Fleet& fleet, const Scope& scope,
                             Impact impact, const Except& except = {});

struct Begun {
  int count = 0;
  // How long until enough entries have left the window for one more start.
  std::optional<std::chrono::milliseconds> room_in;
};

struct Span {
  std::chrono::milliseconds window{0};
  int allowed = 0;
  WallTime now;
};

// Returns the number of Remediations that have begun `impact` or higher in the scope within the
// window. Entries from the future count as within the window.
[[nodiscard]] Begun begun_within(const Ledger& ledger, const Scope& scope, Impact impact,
                                 const Span& span, const Except& except = {});

// Returns the number of unhealthy nodes in the scope that wait for a taint and go before the given
// node. Nodes of higher severity go first, and at the same severity the confirmed nodes. Among
// equal nodes the first to ask goes first. A node with a full pool of its own does not count,
// because it could not use this room.
[[nodiscard]] int ahead_in(const Ledger& ledger, const Fleet& fleet, const Scope& scope,
                           const Share& share, std::string_view node_uid);

// Counts healthy nodes in the scope that hold no slot.
[[nodiscard]] int healthy_in(const Ledger& ledger, const Fleet& fleet, const Scope& scope,
                             const Except& except);

}  // namespace gpuward::remediator
