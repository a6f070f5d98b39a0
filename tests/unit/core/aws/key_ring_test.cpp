#include "core/aws/key_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <thread>
#include <vector>

#include "tests/fakes/fake_clock.h"
#include "tests/support/wait.h"

namespace gpuward::aws {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// Each look gives keys named after its number. They live for `life`.
class KeyRingTest : public ::testing::Test {
 protected:
  Result<AwsKeys> fetch() {
    ++looks;
    if (is_failing) return fail(ErrorKind::kUnavailable, "no");
    AwsKeys keys{.access_key_id = std::to_string(looks), .secret_access_key = "s"};
    if (life > seconds(0)) keys.expires = clock.wall() + life;
    return keys;
  }
  [[nodiscard]] std::string current() {
    const auto keys = ring.current();
    return keys ? keys->access_key_id : keys.error().message;
  }

  fakes::FakeClock clock;
  std::atomic<int> looks = 0;
  std::atomic<bool> is_failing = false;
  seconds life = minutes(60);
  AwsKeyRing ring{[this] { return fetch(); }, clock};
};

TEST_F(KeyRingTest, KeysAreFoundOnceAndRenewedBeforeTheirEnd) {
  EXPECT_EQ(current(), "1");
  clock.advance(minutes(44));
  EXPECT_EQ(current(), "1");
  clock.advance(minutes(1));
  EXPECT_EQ(current(), "2");
}

TEST_F(KeyRingTest, AShortLifeDoesNotMeanALookForEveryCall) {
  life = minutes(10);
  EXPECT_EQ(current(), "1");
  clock.advance(minutes(4));
  EXPECT_EQ(current(), "1");
  clock.advance(minutes(1));
  EXPECT_EQ(current(), "2");
}

TEST_F(KeyRingTest, KeysWithoutAnEndAreLookedUpAgainNowAndThen) {
  life = seconds(0);
  EXPECT_EQ(current(), "1");
  clock.advance(minutes(4));
  EXPECT_EQ(current(), "1");
  clock.advance(minutes(1));
  EXPECT_EQ(current(), "2");
}

TEST_F(KeyRingTest, OldKeysAreUsedUntilTheyReallyEndWhenNoNewOnesCome) {
  EXPECT_EQ(current(), "1");
  is_failing = true;
  clock.advance(minutes(59));
  EXPECT_EQ(current(), "1");
  EXPECT_EQ(looks, 2);
  clock.advance(minutes(1));
  EXPECT_EQ(current(), "no");
  is_failing = false;
  clock.advance(seconds(5));
  EXPECT_EQ(current(), "4");
}

TEST_F(KeyRingTest, AFailureIsNotRepeatedForEveryCall) {
  is_failing = true;
  EXPECT_EQ(current(), "no");
  EXPECT_EQ(current(), "no");
  EXPECT_EQ(looks, 1);
  clock.advance(seconds(5));
  EXPECT_EQ(current(), "no");
  EXPECT_EQ(looks, 2);
}

TEST_F(KeyRingTest, WhatAwsCallsEndedIsNotUsedAgain) {
  EXPECT_EQ(current(), "1");
  ring.reject("another");
  EXPECT_EQ(current(), "1");
  ring.reject("1");
  EXPECT_EQ(current(), "2");
}

using Permits = std::counting_semaphore<64>;

// Lets all looks end, so that a test that fails does not hang.
struct AtTheEnd {
  Permits& permits;
  ~AtTheEnd() { permits.release(16); }
};

TEST(KeyRing, OneLooksAndTheOthersWaitOrGoOnWithTheOldKeys) {
  fakes::FakeClock clock;
  std::atomic<int> looks = 0;
  Permits may_answer(0);
  AwsKeyRing ring(
      [&]() -> Result<AwsKeys> {
        const int look = ++looks;
        may_answer.acquire();
        return AwsKeys{.access_key_id = std::to_string(look),
                       .secret_access_key = "s",
                       .expires = clock.wall() + minutes(60)};
      },
      clock);
  std::atomic<int> answered = 0;
  std::vector<std::jthread> callers;
  const AtTheEnd at_the_end{may_answer};
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      if (ring.current()) ++answered;
    });
  }
  ASSERT_TRUE(support::wait_until([&] { return looks == 1; }, "a look"));
  EXPECT_EQ(answered, 0);
  may_answer.release();
  ASSERT_TRUE(support::wait_until([&] { return answered == 4; }, "four answers"));
  EXPECT_EQ(looks, 1);

  clock.advance(minutes(50));
  callers.emplace_back([&] { static_cast<void>(ring.current()); });
  ASSERT_TRUE(support::wait_until([&] { return looks == 2; }, "the second look"));
  const auto meanwhile = ring.current();
  ASSERT_TRUE(meanwhile);
  EXPECT_EQ(meanwhile->access_key_id, "1");
  may_answer.release();
}

}  // namespace
}  // namespace gpuward::aws
