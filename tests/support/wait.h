// Waits for a condition with a deadline, instead of sleeping. Used by every test that has more than
// one thread or process.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <string>

#include "tests/support/deadline.h"

namespace gpuward::support {

// Checks `condition` every few milliseconds until it is true or the deadline has passed.
template <typename Condition>
[[nodiscard]] bool poll_until(const Condition& condition, const Deadline& deadline) {
  int pause_ms = 1;
  while (!condition()) {
    if (deadline.has_passed()) {
      if (condition()) return true;
      deadline.fail();
      return false;
    }
    ::poll(nullptr, 0, pause_ms);
    if (pause_ms < 20) pause_ms *= 2;
  }
  return true;
}

template <typename Condition>
[[nodiscard]] bool poll_until(const Condition& condition,
                              std::chrono::milliseconds limit = kGenerous) {
  return poll_until(condition, Deadline(limit));
}

// For EXPECT_TRUE and ASSERT_TRUE: names the event that did not happen, and the time limit.
template <typename Condition>
[[nodiscard]] ::testing::AssertionResult wait_until(const Condition& condition,
                                                    std::chrono::milliseconds limit,
                                                    const std::string& what) {
  const Deadline deadline(limit);
  if (poll_until(condition, deadline)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "not within " << deadline.limit().count() << " ms"
         << (deadline.limit() < limit ? " (less, after failed waits)" : "") << ": " << what;
}

template <typename Condition>
[[nodiscard]] ::testing::AssertionResult wait_until(const Condition& condition,
                                                    const std::string& what) {
  return wait_until(condition, kGenerous, what);
}

}  // namespace gpuward::support
