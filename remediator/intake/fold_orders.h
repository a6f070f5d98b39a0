// What orders make of what is known of their node: a new Remediation, a changed one, or nothing.
// Pure; used by remediation_intake and by the replay.
#pragma once

#include <span>
#include <vector>

#include "remediator/model/evidence.h"
#include "remediator/records/cluster_view.h"
#include "remediator/sources/intake.h"

namespace gpuward::remediator {

struct IgnoredOrder {
  Order order;
  Ignored reason = Ignored::kNoSuchNode;
};

struct FoldedOrders {
  Remediation remediation;
  IntakeCounts counts = {};
  std::vector<IgnoredOrder> ignored = {};
  bool is_new = false;
  bool changed = false;  // it has to be written
};

// An alert that began before the Node was registered.
[[nodiscard]] bool is_older_than_node(const Order& order, const NodeIdentity& node);

// `known`: all Remediations of that node UID, oldest first. `earlier`: those of the same machine
// under its earlier Nodes; needed where an order is older than the Node. `last_number`: the highest
// that one of that node UID is known to have had in its name, be it deleted.
//
// Where more than one is open each is told, one at a time: the first of them that changes is the
// result, and who has written it asks again.
[[nodiscard]] FoldedOrders fold_orders(const NodeIdentity& node, std::span<const Remediation> known,
                                       std::span<const Order> orders, WallTime now,
                                       std::span<const Remediation> earlier = {},
                                       int last_number = 0);

}  // namespace gpuward::remediator
