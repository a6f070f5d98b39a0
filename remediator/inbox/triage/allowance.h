// Limits the use of a language model: questions per hour, characters per day, and a pause after
// repeated failures. Pure; time is a parameter. Used by inbox/triage/triage.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace gpuward::remediator {

enum class Permission : std::uint8_t { kYes, kOverLimit, kBreakerOpen };

// One thread, or under its owner's lock.
class TriageAllowance {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void set_limits(std::int64_t per_hour, std::int64_t characters_per_day);
  // Counts the question if it returns kYes.
  [[nodiscard]] Permission spend(std::size_t characters, Time now);
  void succeeded() { failures_ = 0; }
  // Opens the breaker after a few failures in a row, and for longer each time.
  void failed(Time now);
  [[nodiscard]] bool is_open(Time now) const { return now < open_until_; }

 private:
  struct Spent {
    Time at;
    std::int64_t characters = 0;
  };
  std::int64_t per_hour_ = 0, characters_per_day_ = 0;
  std::deque<Spent> spent_;  // within a day, the oldest first
  int failures_ = 0;
  Time open_until_;
};

}  // namespace gpuward::remediator
