#include "core/runtime/backoff.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpuward {
namespace {

using namespace std::chrono_literals;

constexpr BackoffPolicy kPolicy{.first = 100ms, .longest = 1000ms, .factor = 2.0};

std::vector<std::chrono::milliseconds> waits(Backoff& backoff, int count) {
  std::vector<std::chrono::milliseconds> found;
  for (int i = 0; i < count; ++i) found.push_back(backoff.next());
  return found;
}

TEST(Backoff, DoublesUpToTheLongestWithHalfOfItJittered) {
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    Backoff backoff(kPolicy, seed);
    std::chrono::milliseconds step = 100ms;
    for (const auto wait : waits(backoff, 8)) {
      EXPECT_GE(wait, step / 2);
      EXPECT_LE(wait, step);
      step = std::min<std::chrono::milliseconds>(step * 2, 1000ms);
    }
  }
}

TEST(Backoff, RepeatsItselfForTheSameSeed) {
  Backoff one(kPolicy, 7);
  Backoff two(kPolicy, 7);
  EXPECT_EQ(waits(one, 6), waits(two, 6));
}

TEST(Backoff, DiffersBetweenClientsThatSeedFromTheSystem) {
  Backoff one(BackoffPolicy{.first = 1h, .longest = 1h});
  Backoff two(BackoffPolicy{.first = 1h, .longest = 1h});
  EXPECT_NE(waits(one, 4), waits(two, 4));
}

TEST(Backoff, BeginsAgainAfterAReset) {
  Backoff backoff(kPolicy, 3);
  static_cast<void>(waits(backoff, 6));
  backoff.reset();
  EXPECT_LE(backoff.next(), 100ms);
}

TEST(Backoff, StaysAtTheLongestForEver) {
  Backoff backoff(kPolicy, 5);
  for (const auto wait : waits(backoff, 5000)) EXPECT_LE(wait, 1000ms);
}

}  // namespace
}  // namespace gpuward
