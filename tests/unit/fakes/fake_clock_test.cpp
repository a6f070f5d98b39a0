#include "tests/fakes/fake_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/support/wait.h"

namespace gpuward::fakes {
namespace {

using std::chrono::seconds;

TEST(FakeClock, WakesASleeperOnlyWhenItsTimeHasCome) {
  FakeClock clock;
  std::jthread sleeper(
      [&](const std::stop_token& stop) { (void)clock.sleep_for(seconds(10), stop); });
  ASSERT_TRUE(support::wait_until([&] { return clock.sleepers() == 1; }, "it sleeps"));

  clock.advance(seconds(9));
  EXPECT_EQ(clock.sleepers(), 1U);
  clock.advance(seconds(1));

  EXPECT_TRUE(support::wait_until([&] { return clock.sleepers() == 0; }, "it wakes"));
}

TEST(FakeClock, WakesASleeperThatIsStopped) {
  FakeClock clock;
  bool due = true;
  {
    std::jthread sleeper(
        [&](const std::stop_token& stop) { due = clock.sleep_for(seconds(10), stop); });
    ASSERT_TRUE(support::wait_until([&] { return clock.sleepers() == 1; }, "it sleeps"));
  }
  EXPECT_FALSE(due);
}

TEST(FakeClock, JumpsToTheEndOfASleepIfNobodyElseAdvancesIt) {
  FakeClock clock(FakeClock::Mode::kAutoAdvance);
  const auto begin = clock.steady();
  const auto wall = clock.wall();

  EXPECT_TRUE(clock.sleep_for(seconds(3600), {}));

  EXPECT_EQ(clock.steady() - begin, seconds(3600));
  EXPECT_EQ(clock.wall() - wall, seconds(3600));
}

TEST(FakeClock, LetsTheWallClockJumpAlone) {
  FakeClock clock;
  const auto begin = clock.steady();

  clock.jump_wall(-seconds(60));

  EXPECT_EQ(to_rfc3339(clock.wall()), "2025-12-31T23:59:00Z");
  EXPECT_EQ(clock.steady(), begin);
}

}  // namespace
}  // namespace gpuward::fakes
