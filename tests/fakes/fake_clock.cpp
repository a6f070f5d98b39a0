#include "tests/fakes/fake_clock.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gpuward::fakes {

FakeClock::FakeClock(Mode mode)
    : mode_(mode),
      wall_(std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}),
      steady_(std::chrono::hours(1)) {}

Clock::Wall FakeClock::wall() const {
  const std::lock_guard lock(mutex_);
  return wall_;
}

Clock::Steady FakeClock::steady() const {
  const std::lock_guard lock(mutex_);
  return steady_;
}

bool FakeClock::sleep_until(Steady deadline, std::stop_token stop) {
  if (stop.stop_requested()) return false;
  if (mode_ == Mode::kAutoAdvance) {
    const Steady now = steady();
    if (deadline > now) advance(deadline - now);
    return true;
  }
  std::unique_lock lock(mutex_);
  ++sleepers_;
  const bool due = changed_.wait(lock, stop, [&] { return steady_ >= deadline; });
  --sleepers_;
  return due;
}

void FakeClock::advance(std::chrono::nanoseconds by) {
  {
    const std::lock_guard lock(mutex_);
    wall_ += std::chrono::duration_cast<Wall::duration>(by);
    steady_ += std::chrono::duration_cast<Steady::duration>(by);
  }
  changed_.notify_all();
}

void FakeClock::jump_wall(std::chrono::nanoseconds by) {
  const std::lock_guard lock(mutex_);
  wall_ += std::chrono::duration_cast<Wall::duration>(by);
}

std::size_t FakeClock::sleepers() const {
  const std::lock_guard lock(mutex_);
  return sleepers_;
}

}  // namespace gpuward::fakes
