// A promise about time, on a machine with other load: the quickest of several tries keeps it. No
// try does if the program itself is too slow.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "tests/support/deadline.h"

namespace gpuward::support {

inline constexpr int kMostTries = 20;

// The shortest time that `measure` returns. Tries end with the first below `limit`, with a failure
// of the test, and at the deadline of tests.
template <typename Measure>
[[nodiscard]] std::chrono::nanoseconds quickest_of(std::chrono::nanoseconds limit,
                                                   const Measure& measure) {
  auto quickest = std::chrono::nanoseconds::max();
  const auto end = std::chrono::steady_clock::now() + kGenerous;
  for (int i = 0; i < kMostTries && quickest >= limit; ++i) {
    if (::testing::Test::HasFailure() || std::chrono::steady_clock::now() >= end) break;
    quickest = std::min<std::chrono::nanoseconds>(quickest, measure());
  }
  return quickest;
}

}  // namespace gpuward::support
