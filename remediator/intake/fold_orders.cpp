#include "remediator/intake/fold_orders.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "remediator/model/remediation_name.h"

namespace gpuward::remediator {
namespace {

Remediation open_new(const NodeIdentity& node, std::span<const Remediation> closed, int last) {
  for (const Remediation& remediation : closed) last = std::max(last, count_in(remediation.name));
  Remediation fresh;
  fresh.name = remediation_name(node.name, node.uid, last + 1);
  fresh.node = node.name;
  fresh.node_uid = node.uid;
  fresh.boot_id = node.boot_id;
  fresh.instance_id = node.instance_id;
  fresh.system_uuid = normal_uuid(node.system_uuid);
  return fresh;
}

// `known` of the Node, `earlier` of the same machine under its earlier Nodes.
struct Past {
  std::span<const Remediation> known, earlier;

  [[nodiscard]] bool has_answered(const Order& order, WallTime now) const {
    return is_late_repeat(order, known, now) || is_late_repeat(order, earlier, now);
  }
};

std::optional<Ignored> why_ignored(const Order& order, const NodeIdentity& node, const Past& past,
                                   bool is_open, WallTime now) {
  // It is about another machine that had the name, unless this one is known to be the same.
  const bool is_older = is_older_than_node(order, node);
  if (is_older && past.earlier.empty()) return Ignored::kOlderThanNode;
  if (is_older && past.has_answered(order, now)) return Ignored::kLateRepeat;
  if (is_open) return std::nullopt;
  if (!order.firing) return Ignored::kNothingToEnd;
  if (past.has_answered(order, now)) return Ignored::kLateRepeat;
  return std::nullopt;
}

struct Told {
  const NodeIdentity& node;
  Past past;
  std::span<const Order> orders;
  WallTime now;
};

FoldedOrders fold_into(Remediation remediation, bool is_new, const Told& told) {
  FoldedOrders result{.remediation = std::move(remediation), .is_new = is_new};
  const auto ignore = [&result](const Order& order, Ignored reason) {
    ++result.counts.ignored;
    result.ignored.push_back({order, reason});
  };
  for (const Order& order : told.orders) {
    const bool is_open = !is_new || result.changed;
    if (const auto reason = why_ignored(order, told.node, told.past, is_open, told.now)) {
      ignore(order, *reason);
      continue;
    }
    const Folded folded = fold(result.remediation, order, told.now);
    result.changed = result.changed || folded.change == Change::kSome;
    if (folded.ignored) {
      ignore(order, *folded.ignored);
    } else if (folded.change == Change::kSome) {
      ++result.counts.accepted;
    } else {
      ++result.counts.duplicate;
    }
    if (folded.displaced) result.ignored.push_back({order, Ignored::kNoRoom});
  }
  return result;
}

}  // namespace

bool is_older_than_node(const Order& order, const NodeIdentity& node) {
  return order.firing && node.created && order.starts_at < *node.created;
}

FoldedOrders fold_orders(const NodeIdentity& node, std::span<const Remediation> known,
                         std::span<const Order> orders, WallTime now,
                         std::span<const Remediation> earlier, int last_number) {
  const Past past{known, earlier};
  std::optional<FoldedOrders> first;
  for (const Remediation& open : known) {
    if (!open.open()) continue;
    FoldedOrders folded = fold_into(open, false, {node, past, orders, now});
    if (folded.changed) return folded;
    if (!first) first = std::move(folded);
  }
  if (first) return *std::move(first);
  return fold_into(open_new(node, known, last_number), true, {node, past, orders, now});
}

}  // namespace gpuward::remediator
