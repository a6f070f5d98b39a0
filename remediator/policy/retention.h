// Which closed Remediations have been kept long enough. Pure; used by the leader's upkeep. What was
// spent and tried is in the ledger and outlives them.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

struct Retention {
  std::chrono::milliseconds age = std::chrono::hours(24 * 30);  // after closing
  std::int64_t most = 2'000;                                    // closed ones at all
};

// At most so many at once, so that an upkeep is short.
inline constexpr std::size_t kMostForgotten = 200;

// The oldest first. Never an open one, and none whose alerts still fire: its repeats would open
// another.
[[nodiscard]] std::vector<const Remediation*> to_forget(std::span<const Remediation> all,
                                                        const Retention& retention, WallTime now);

}  // namespace gpuward::remediator
