#include "core/runtime/token_bucket.h"

#include <gtest/gtest.h>

namespace gpuward {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TokenBucket::Time kMidnight{};

int taken_until(TokenBucket& bucket, TokenBucket::Time now) {
  int taken = 0;
  for (; bucket.ready_at(now) <= now; ++taken) bucket.take(now);
  return taken;
}

TEST(TokenBuckets, GiveABurstAndThenTheirRate) {
  TokenBucket bucket(50, 10, kMidnight);
  EXPECT_EQ(taken_until(bucket, kMidnight), 10);
  EXPECT_EQ(taken_until(bucket, kMidnight + milliseconds(101)), 5);
  EXPECT_EQ(taken_until(bucket, kMidnight + seconds(100)), 10);
}

TEST(TokenBuckets, SayWhenTheNextMayGo) {
  TokenBucket bucket(50, 1, kMidnight);
  bucket.take(kMidnight);
  const auto ready = bucket.ready_at(kMidnight);
  EXPECT_GT(ready, kMidnight);
  EXPECT_LE(ready, kMidnight + milliseconds(21));
  EXPECT_LE(bucket.ready_at(ready), ready);
}

TEST(TokenBuckets, KeepAnyRateOverAWhile) {
  for (const double rate : {0.3, 7.0, 150.0, 9'999.0}) {
    TokenBucket bucket(rate, 1, kMidnight);
    auto now = kMidnight;
    int taken = 0;
    for (; now < kMidnight + seconds(20); ++taken) {
      now = bucket.ready_at(now);
      ASSERT_LE(bucket.ready_at(now), now) << "wakes too early at " << rate;
      bucket.take(now);
    }
    EXPECT_NEAR(taken, rate * 20 + 1, 2 + rate * 0.01);
  }
}

TEST(TokenBuckets, TakeAnotherRate) {
  TokenBucket bucket(1, 100, kMidnight);
  bucket.set_rate(10, 2, kMidnight);
  EXPECT_EQ(taken_until(bucket, kMidnight), 2);
  EXPECT_EQ(taken_until(bucket, kMidnight + milliseconds(101)), 1);
}

}  // namespace
}  // namespace gpuward
