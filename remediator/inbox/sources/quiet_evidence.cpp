#include "remediator/inbox/sources/quiet_evidence.h"

#include <algorithm>
#include <utility>

namespace gpuward::remediator {

using std::chrono::nanoseconds;

void merge(LastLines& into, const LastLines& more) {
  for (const auto& [fingerprint, at] : more) {
    auto& last = into[fingerprint];
    last = std::max(last, at);
  }
}

std::vector<AlertSignal> quiet_signals(std::vector<AlertSignal> firing, const LastLines& last,
                                       const QuietTime& quiet) {
  std::vector<AlertSignal> ended;
  for (AlertSignal& signal : firing) {
    auto at = std::chrono::duration_cast<nanoseconds>(signal.starts_at.time_since_epoch()).count();
    if (const auto line = last.find(signal.fingerprint); line != last.end())
      at = std::max(at, line->second);
    if (quiet.now - at < nanoseconds(quiet.after).count()) continue;
    signal.firing = false;
    signal.ends_at = quiet.ended_at;
    ended.push_back(std::move(signal));
  }
  return ended;
}

}  // namespace gpuward::remediator
