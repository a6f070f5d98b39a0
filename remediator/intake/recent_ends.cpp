#include "remediator/intake/recent_ends.h"

namespace gpuward::remediator {
namespace {

std::string name_of(const AlertSignal& order) {
  return order.node + '\n' + std::string(without_origin(order.fingerprint));
}

}  // namespace

void RecentEnds::note(const AlertSignal& ended, Clock::Steady now) {
  const std::lock_guard lock(mutex_);
  if (ends_.size() >= kMost) forget_old(now);
  if (ends_.size() >= kMost) ends_.clear();
  ends_.insert_or_assign({name_of(ended), ended.starts_at}, now);
}

bool RecentEnds::has_ended(const AlertSignal& firing, Clock::Steady now) {
  const std::lock_guard lock(mutex_);
  const auto end = ends_.find({name_of(firing), firing.starts_at});
  return end != ends_.end() && now - end->second < kLateRepeats;
}

void RecentEnds::forget_old(Clock::Steady now) {
  std::erase_if(ends_, [&](const auto& end) { return now - end.second >= kLateRepeats; });
}

}  // namespace gpuward::remediator
