// Time as a seam: everything that waits or stamps gets a Clock, so that tests own time.
// SystemClock is the only place that asks the operating system; FakeClock is in tests/fakes.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace gpuward {

class Clock {
 public:
  using Wall = std::chrono::system_clock::time_point;
  using Steady = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;

  // Thread-safe. For timestamps that people and other machines read; may jump.
  [[nodiscard]] virtual Wall wall() const = 0;
  // Thread-safe. For deadlines and durations; never jumps.
  [[nodiscard]] virtual Steady steady() const = 0;
  // Returns the processor time that the calling thread has used so far; only differences are
  // meaningful. By default it is the elapsed time.
  [[nodiscard]] virtual std::chrono::nanoseconds processor_time() const {
    return steady().time_since_epoch();
  }
  // Blocks the calling thread until `deadline` or until `stop` is requested; false if stopped.
  virtual bool sleep_until(Steady deadline, std::stop_token stop) = 0;

  bool sleep_for(std::chrono::milliseconds duration, std::stop_token stop) {
    return sleep_until(steady() + duration, std::move(stop));
  }
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Wall wall() const override;
  [[nodiscard]] Steady steady() const override;
  [[nodiscard]] std::chrono::nanoseconds processor_time() const override;
  bool sleep_until(Steady deadline, std::stop_token stop) override;
};

// The machine's clock, for objects whose threads may outlive main(): never destroyed. Thread-safe.
[[nodiscard]] SystemClock& lasting_clock();

// `2026-11-21T08:04:56Z`; with milliseconds `2026-11-21T08:04:56.123Z`.
[[nodiscard]] std::string to_rfc3339(Clock::Wall time);
[[nodiscard]] std::string to_rfc3339_ms(Clock::Wall time);

// Reads `2026-11-21T08:04:56Z`, `2026-11-21T10:04:56.123456789+02:00` (up to nine digits of a
// fraction); nullopt for anything else. A time outside the range of Wall (Alertmanager writes
// 0001-01-01T00:00:00Z for "not ended") becomes Wall::min() or Wall::max().
[[nodiscard]] std::optional<Clock::Wall> parse_rfc3339(std::string_view text);

}  // namespace gpuward
