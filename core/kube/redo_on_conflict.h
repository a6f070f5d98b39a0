// A change of an object that another writes to at the same moment: what is to be done is judged
// afresh, by what the other has written.
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

// What `attempt`, which reads and then writes, returns at the first time that is no kConflict, or
// at the last. kCancelled: stopped in between. `clock` tells how long it waits; `jitter_seed` 0:
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
