// The position up to which one feed of Loki was read, and the part that is read again after an
// outage of Loki. Senders that could not deliver try again later, and Loki stores their lines under
// the original time. Pure; used by LokiSource.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/runtime/clock.h"

namespace gpuward::remediator {

// How often, and for how long, the part of an outage is read again. gpuward-exporter retries at
// most 30 s after a failed push (kRetry in exporter/publish/loki_pusher.cpp). That push took up to
// 10 s, and many waiting lines need several pushes.
inline constexpr std::chrono::seconds kReadAgainEvery{30};
inline constexpr std::chrono::seconds kLateAfterOutage{90};

struct ReadAgain {
  std::int64_t from = 0;  // The position of the last good answer before the outage.
  Clock::Steady next, last;
};

struct LogProgress {
  std::int64_t position = 0;           // Nanoseconds since 1970, by Loki's clock.
  std::optional<std::int64_t> resume;  // Set while more lines wait than one answer holds.
  bool is_behind = false;              // The last answer did not reach the present.
  std::optional<ReadAgain> again = {};

  // Returns the position from which another process must read.
  [[nodiscard]] std::int64_t oldest() const;
};

// Plans to read again from `from`. Called after the first good answer since an outage. If the part
// of an earlier outage is still planned, its earlier position counts.
void read_again_later(LogProgress& progress, std::int64_t from, Clock::Steady now);
// Goes back to the position at which the outage began, but not before `earliest`. Does so only if
// it is due and reading has reached the present since.
void go_back_if_due(LogProgress& progress, std::int64_t earliest, Clock::Steady now);

}  // namespace gpuward::remediator
