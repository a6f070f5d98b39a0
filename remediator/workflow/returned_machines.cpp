#include "remediator/workflow/returned_machines.h"

#include <algorithm>
#include <vector>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kWithin{10};

// No Alertmanager knows it: it never ends by itself, and where one is asked it justifies no step
// that takes anything away. A human says cancel, or its exporter's own alerts say more.
Order order_for(const NodeIdentity& node, WallTime now) {
  return {.node = node.name,
          .severity = Severity::kIsolate,
          .alertname = kReturnedAlert,
          .fingerprint = short_hash(std::string(kReturnedAlert) + '\n' + node.uid),
          .firing = true,
          // The API server's clock may be ahead: an alert that is older than its node is ignored.
          .starts_at = std::max(now, node.created.value_or(now)),
          .ends_at = {}};
}

}  // namespace

Status ReturnedMachines::take_in() {
  if (!view_.synced()) return {};
  std::vector<Order> orders;
  for (const NodeIdentity& node : view_.returned_machines())
    orders.push_back(order_for(node, clock_.wall()));
  if (orders.empty()) return {};
  const auto taken = intake_.take(orders, clock_.steady() + kWithin);
  if (!taken) return with_context("machines that have come back", taken.error());
  return {};
}

}  // namespace gpuward::remediator
