#include "remediator/workflow/fold_orders.h"

#include <algorithm>
#include <functional>

#include "remediator/workflow/remediation_name.h"

namespace gpuward::remediator {
namespace {

Remediation open_new(const NodeIdentity& node, std::span<const Remediation> closed) {
  int last = 0;
  for (const Remediation& remediation : closed) last = std::max(last, count_in(remediation.name));
  Remediation fresh;
  fresh.name = remediation_name(node.name, node.uid, last + 1);
  fresh.node = node.name;
  fresh.node_uid = node.uid;
  fresh.boot_id = node.boot_id;
  fresh.instance_id = node.instance_id;
  return fresh;
}

bool is_older_than_node(const Order& order, const NodeIdentity& node) {
  return order.firing && node.created && order.starts_at < *node.created;
}

}  // namespace

FoldedOrders fold_orders(const NodeIdentity& node, std::vector<Remediation> known,
                         std::span<const Order> orders, WallTime now) {
  FoldedOrders result;
  const auto open = std::find_if(known.begin(), known.end(), std::mem_fn(&Remediation::open));
  const bool has_open = open != known.end();
  result.is_new = !has_open;
  result.remediation = has_open ? *open : open_new(node, known);
  for (const Order& order : orders) {
    const bool opens = order.firing && !is_late_repeat(order, known, now);
    const bool is_moot = !has_open && !result.changed && !opens;
    if (is_moot || is_older_than_node(order, node)) {
      ++result.counts.ignored;
    } else if (fold(result.remediation, order, now) == Change::kSome) {
      ++result.counts.accepted;
      result.changed = true;
    } else {
      ++result.counts.duplicate;
    }
  }
  return result;
}

}  // namespace gpuward::remediator
