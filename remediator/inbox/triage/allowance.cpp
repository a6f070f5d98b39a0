#include "remediator/inbox/triage/allowance.h"

#include <algorithm>

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr int kFailuresThatOpen = 3;
constexpr minutes kFirstPause{1};
constexpr minutes kLongestPause{30};
constexpr int kMostDoublings = 5;

}  // namespace

void TriageAllowance::set_limits(std::int64_t per_hour, std::int64_t characters_per_day) {
  per_hour_ = per_hour;
  characters_per_day_ = characters_per_day;
}

Permission TriageAllowance::spend(std::size_t characters, Time now) {
  if (is_open(now)) return Permission::kBreakerOpen;
  while (!spent_.empty() && now - spent_.front().at >= hours(24)) spent_.pop_front();
  const auto wanted = static_cast<std::int64_t>(characters);
  std::int64_t sum = wanted, in_hour = 1;
  for (const Spent& one : spent_) {
    sum += one.characters;
    if (now - one.at < hours(1)) ++in_hour;
  }
  if (in_hour > per_hour_ || sum > characters_per_day_) return Permission::kOverLimit;
  spent_.push_back({now, wanted});
  return Permission::kYes;
}

void TriageAllowance::failed(Time now) {
  ++failures_;
  if (failures_ < kFailuresThatOpen) return;
  const int doublings = std::min(failures_ - kFailuresThatOpen, kMostDoublings);
  open_until_ = now + std::min(kLongestPause, kFirstPause * (1 << doublings));
}

}  // namespace gpuward::remediator
