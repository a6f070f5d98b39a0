// Changes an object that another client may write at the same time: after a conflict, the decision
// is made again from the current object.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>

#include "core/model/result.h"
#include "core/runtime/backoff.h"
#include "core/runtime/clock.h"

namespace gpuward::kube {

inline constexpr int kConflictTries = 10;
inline constexpr BackoffPolicy kBetweenConflicts{.first = std::chrono::milliseconds(20),
                                                 .longest = std::chrono::milliseconds(2'000)};

// Calls `attempt`, which reads and then writes; returns its first result that is not kConflict, or
// the last one. kCancelled: stopped in between. `clock` measures the waits; `jitter_seed` 0: seeded
// from the system.
template <typename Attempt>
auto redo_on_conflict(Clock& clock, const Attempt& attempt, const std::stop_token& stop = {},
                      std::uint64_t jitter_seed = 0) -> decltype(attempt()) {
  Backoff backoff(kBetweenConflicts, jitter_seed);
  for (int tried = 1;; ++tried) {
    auto outcome = attempt();
    if (outcome || outcome.error().kind != ErrorKind::kConflict) return outcome;
    if (tried == kConflictTries) {
      return with_context("after " + std::to_string(kConflictTries) + " tries",
                          std::move(outcome.error()));
    }
    if (!clock.sleep_for(backoff.next(), stop))
      return fail(ErrorKind::kCancelled, "stopped after a conflict: " + outcome.error().message);
  }
}

}  // namespace gpuward::kube
