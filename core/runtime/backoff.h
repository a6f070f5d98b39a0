// The wait before the next try: exponential with jitter. One pure class for all retries and
// restarts of gpuward.
#pragma once

#include <chrono>
#include <cstdint>

namespace gpuward {

struct BackoffPolicy {
  std::chrono::milliseconds first{100};
  std::chrono::milliseconds longest{10'000};
  double factor = 2.0;
};

// One thread. Deterministic for a seed.
class Backoff {
 public:
  explicit Backoff(BackoffPolicy policy, std::uint64_t seed = 0);  // 0: seeded from the system
  // Returns the next wait: between half and the whole of the current step. Each call multiplies the
  // step by `factor`, up to `longest`.
  [[nodiscard]] std::chrono::milliseconds next();
  void reset();

 private:
  BackoffPolicy policy_;
  double step_ms_;
  std::uint64_t state_;
};

}  // namespace gpuward
