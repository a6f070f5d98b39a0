// Limits a rate and allows bursts: `burst` tokens at once, then `per_second` tokens a second. Pure;
// time is a parameter. Used by the evictor and the sinks.
#pragma once

#include <chrono>

namespace gpuward {

// One thread may use it, or several under a lock of the owner.
class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // The bucket is full at `now`. `per_second` is more than 0, `burst` at least 1.
  TokenBucket(double per_second, double burst, Time now);
  // Sets another rate from now on. Saved tokens stay, up to the new burst.
  void set_rate(double per_second, double burst, Time now);
  // Returns when the next token may be taken; `now` or earlier if a token is available.
  [[nodiscard]] Time ready_at(Time now);
  // Takes a token that ready_at() has allowed.
  void take(Time now);

 private:
  void refill(Time now);

  double per_second_;
  double burst_;
  double tokens_;
  Time filled_at_;
};

}  // namespace gpuward
