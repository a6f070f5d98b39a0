#include "remediator/sources/absent_alerts.h"

#include <utility>

namespace gpuward::remediator {

std::vector<AlertSignal> AbsentAlerts::ended(std::vector<AlertSignal> known,
                                             const std::set<std::string>& firing,
                                             const Clock& clock) {
  std::vector<AlertSignal> orders;
  std::map<Key, Clock::Steady> missing;
  const Clock::Steady now = clock.steady();
  if (answered_ && now - *answered_ > longest_silence_) forget();
  answered_ = now;
  for (AlertSignal& order : known) {
    if (firing.contains(order.fingerprint)) continue;
    const Key key(order.node, order.fingerprint, order.starts_at);
    const auto before = missing_since_.find(key);
    const auto since = before == missing_since_.end() ? now : before->second;
    missing[key] = since;
    if (now - since < gone_for_) continue;
    order.firing = false;
    order.absent = true;
    order.ends_at = clock.wall();
    orders.push_back(std::move(order));
  }
  missing_since_ = std::move(missing);
  return orders;
}

}  // namespace gpuward::remediator
