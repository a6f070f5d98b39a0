#include "core/runtime/token_bucket.h"

#include <algorithm>

namespace gpuward {
namespace {

using FractionOfSeconds = std::chrono::duration<double>;

}  // namespace

TokenBucket::TokenBucket(double per_second, double burst, Time now)
    : per_second_(per_second), burst_(burst), tokens_(burst), filled_at_(now) {}

void TokenBucket::set_rate(double per_second, double burst, Time now) {
  refill(now);
  per_second_ = per_second;
  burst_ = burst;
  tokens_ = std::min(tokens_, burst_);
}

void TokenBucket::refill(Time now) {
  const FractionOfSeconds passed = now - filled_at_;
  tokens_ = std::min(burst_, tokens_ + passed.count() * per_second_);
  filled_at_ = now;
}

TokenBucket::Time TokenBucket::ready_at(Time now) {
  refill(now);
  if (tokens_ >= 1) return now;
  // A nanosecond more than the sum: rounding must not wake the caller too early again and again.
  const FractionOfSeconds missing((1 - tokens_) / per_second_);
  return now + std::chrono::ceil<std::chrono::nanoseconds>(missing) + std::chrono::nanoseconds(1);
}

void TokenBucket::take(Time now) {
  refill(now);
  tokens_ -= 1;
}

}  // namespace gpuward
