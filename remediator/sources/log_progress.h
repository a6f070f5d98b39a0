// How far one feed of Loki was read, and which part is read again after an outage of Loki: senders
// that could not deliver try again later, and Loki stores their lines under the time at which they
// were written. Pure; used by LokiSource.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/runtime/clock.h"

namespace gpuward::remediator {

// gpuward-exporter retries at most 30 s after a failed push (kRetry in
// exporter/publish/loki_pusher.cpp), which itself took up to 10 s, and needs several pushes if many
// lines wait.
inline constexpr std::chrono::seconds kReadAgainEvery{30};
inline constexpr std::chrono::seconds kLateAfterOutage{90};

struct ReadAgain {
  std::int64_t from = 0;  // the position of the last good answer before the outage
  Clock::Steady next, last;
};

struct LogProgress {
  std::int64_t position = 0;           // nanoseconds since 1970, by Loki's clock
  std::optional<std::int64_t> resume;  // set while more lines wait than one answer holds
  bool is_behind = false;              // the last answer did not reach the present
  std::optional<ReadAgain> again = {};

  // The position from which another process must read.
  [[nodiscard]] std::int64_t oldest() const;
};

// Call it after the first good answer since an outage. If there was an outage before, its earlier
// position counts.
void read_again_later(LogProgress& progress, std::int64_t from, Clock::Steady now);
// Goes back to the position at which the outage began, if that is due and reading has reached the
// present since; not before `earliest`.
void go_back_if_due(LogProgress& progress, std::int64_t earliest, Clock::Steady now);

}  // namespace gpuward::remediator
