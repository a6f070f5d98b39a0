// Waiting for a condition with a deadline, in place of sleeping. Used by every test that has more
// than one thread or process.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <string>

#include "tests/support/deadline.h"

namespace gpuward::support {

// Asks `condition` every few milliseconds until it is true or `limit` has passed.
template <typename Condition>
[[nodiscard]] bool poll_until(const Condition& condition,
                              std::chrono::milliseconds limit = kGenerous) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int pause_ms = 1;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return condition();
    ::poll(nullptr, 0, pause_ms);
    if (pause_ms < 20) pause_ms *= 2;
  }
  return true;
}

// For EXPECT_TRUE and ASSERT_TRUE: says what did not happen, and within what time.
template <typename Condition>
[[nodiscard]] ::testing::AssertionResult wait_until(const Condition& condition,
                                                    std::chrono::milliseconds limit,
                                                    const std::string& what) {
  if (poll_until(condition, limit)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "not within " << limit.count() << " ms: " << what;
}

template <typename Condition>
[[nodiscard]] ::testing::AssertionResult wait_until(const Condition& condition,
                                                    const std::string& what) {
  return wait_until(condition, kGenerous, what);
}

}  // namespace gpuward::support
