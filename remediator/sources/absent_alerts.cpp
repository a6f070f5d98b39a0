#include "remediator/sources/absent_alerts.h"

#include <utility>

namespace gpuward::remediator {

std::vector<Order> AbsentAlerts::ended(std::vector<Order> known,
                                       const std::set<std::string>& firing, const Clock& clock) {
  std::vector<Order> orders;
  std::map<std::string, Clock::Steady> missing;
  const Clock::Steady now = clock.steady();
  for (Order& order : known) {
    if (firing.contains(order.fingerprint)) continue;
    const std::string key = order.node + '\n' + order.fingerprint;
    const auto before = missing_since_.find(key);
    const auto since = before == missing_since_.end() ? now : before->second;
    missing[key] = since;
    if (now - since < gone_for_) continue;
    order.firing = false;
    order.ends_at = clock.wall();
    orders.push_back(std::move(order));
  }
  missing_since_ = std::move(missing);
  return orders;
}

}  // namespace gpuward::remediator
