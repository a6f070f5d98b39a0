#include "remediator/inbox/sources/absent_alerts.h"

#include <utility>

namespace gpuward::remediator {

std::vector<AlertSignal> AbsentAlerts::ended(std::vector<AlertSignal> known,
                                             const std::set<std::string>& firing,
                                             const Clock& clock) {
  std::vector<AlertSignal> signals;
  std::map<Key, Clock::Steady> missing;
  const Clock::Steady now = clock.steady();
  if (answered_ && now - *answered_ > longest_silence_) forget();
  answered_ = now;
  for (AlertSignal& signal : known) {
    if (firing.contains(signal.fingerprint)) continue;
    const Key key(signal.node, signal.fingerprint, signal.starts_at);
    const auto before = missing_since_.find(key);
    const auto since = before == missing_since_.end() ? now : before->second;
    missing[key] = since;
    if (now - since < gone_for_) continue;
    signal.firing = false;
    signal.absent = true;
    signal.ends_at = clock.wall();
    signals.push_back(std::move(signal));
  }
  missing_since_ = std::move(missing);
  return signals;
}

}  // namespace gpuward::remediator
