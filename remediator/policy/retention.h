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
  std::int64_t most = 2'000;  // closed ones, without those that speak of a machine
};

// A cancelled one whose alert fired is kept for so many times that age.
inline constexpr int kLongestHeld = 10;
// At most so many at once, so that an upkeep is short.
inline constexpr std::size_t kMostForgotten = 200;

// Those that are too old, the oldest first; then those that are too many: first those of severity
// monitor, then the oldest. Never an open one. One whose alerts fired when an operator cancelled
// it is kept longer, because their repeats would open another. None goes for its number that keeps
// a machine out of service or has found healthy one that came back. One that was Replaced stays
// while an open one has drained its node and is older than that end: the new Node counts once.
[[nodiscard]] std::vector<const Remediation*> to_forget(std::span<const Remediation> all,
                                                        const Retention& retention, WallTime now);

}  // namespace gpuward::remediator
