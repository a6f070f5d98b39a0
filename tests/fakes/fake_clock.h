// Time that a test owns. Two ways to use it: advance() from the test's thread while others sleep on
// it, or auto-advance for a simulation on one thread, where a sleep jumps to its own end at once.
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

  // Both clocks go on; sleepers whose time has come wake up.
  void advance(std::chrono::nanoseconds by);
  // Only the wall clock: a jump by NTP or by hand, backwards too.
  void jump_wall(std::chrono::nanoseconds by);
  // Threads in sleep_until() now. Wait for it before advance(), and no wake-up can be missed.
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
