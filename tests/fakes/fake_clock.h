// A clock that a test controls, in two ways: the test's thread calls advance() while others sleep
// on it; or, for a simulation on one thread, a sleep jumps to its own end at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>

#include "core/runtime/clock.h"

namespace gpuward::fakes {

class FakeClock final : public Clock {
 public:
  enum class Mode { kManual, kAutoAdvance };
  // Begins at 2026-01-01T00:00:00Z.
  explicit FakeClock(Mode mode = Mode::kManual);

  [[nodiscard]] Wall wall() const override;
  [[nodiscard]] Steady steady() const override;
  bool sleep_until(Steady deadline, std::stop_token stop) override;

  // Advances both clocks, and wakes the sleepers that are due.
  void advance(std::chrono::nanoseconds by);
  // Moves only the wall clock, as NTP or a user does, also backwards.
  void jump_wall(std::chrono::nanoseconds by);
  // The number of threads in sleep_until(). Wait for it before advance(), so that no wake-up is
  // missed.
  [[nodiscard]] std::size_t sleepers() const;

 private:
  Mode mode_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Wall wall_;
  Steady steady_;
  std::size_t sleepers_ = 0;
};

}  // namespace gpuward::fakes
