// A rate with a burst: so many at once, then so many a second. Pure; time is a parameter. Used by
// the evictor.
#pragma once

#include <chrono>

namespace gpuward::remediator {

// One thread, or under its owner's lock.
class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Full at `now`. `per_second` is more than 0, `burst` at least 1.
  TokenBucket(double per_second, double burst, Time now);
  // Sets another rate from now on; saved tokens stay, up to the new burst.
  void set_rate(double per_second, double burst, Time now);
  // When the next token may be taken; `now` or earlier if at once.
  [[nodiscard]] Time ready_at(Time now);
  // Takes one that ready_at() has allowed.
  void take(Time now);

 private:
  void refill(Time now);

  double per_second_;
  double burst_;
  double tokens_;
  Time filled_at_;
};

}  // namespace gpuward::remediator
