#include "core/runtime/clock.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/deadline.h"

namespace gpuward {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

constexpr Clock::Wall kMoment = sys_days(2026y / 11 / 21) + 8h + 4min + 56s + 123ms;

TEST(SystemClock, SleepsUntilTheDeadline) {
  SystemClock clock;
  const auto deadline = clock.steady() + 20ms;
  EXPECT_TRUE(clock.sleep_until(deadline, {}));
  EXPECT_GE(clock.steady(), deadline);
}

TEST(SystemClock, ReturnsAtOnceWhenTheDeadlineHasPassed) {
  SystemClock clock;
  EXPECT_TRUE(clock.sleep_for(-1h, {}));
}

TEST(SystemClock, CountsTheProcessorOnlyWhileItIsUsed) {
  SystemClock clock;
  const auto used = clock.processor_time();
  EXPECT_TRUE(clock.sleep_for(50ms, {}));
  EXPECT_LT(clock.processor_time() - used, 50ms);
  const auto before_work = clock.processor_time();
  while (clock.processor_time() < before_work + 1ms) {
  }
}

TEST(SystemClock, IsWokenByAStop) {
  SystemClock clock;
  const auto begin = clock.steady();
  bool slept_whole = true;
  {
    std::jthread sleeper(
        [&](const std::stop_token& stop) { slept_whole = clock.sleep_for(1h, stop); });
    sleeper.request_stop();
  }
  EXPECT_FALSE(slept_whole);
  EXPECT_LT(clock.steady() - begin, support::kGenerous);
}

TEST(SystemClock, WaitsForAStopAloneWhenTheDeadlineIsTheEndOfTime) {
  SystemClock clock;
  std::jthread sleeper([&](const std::stop_token& stop) {
    EXPECT_FALSE(clock.sleep_until(Clock::Steady::max(), stop));
  });
  EXPECT_TRUE(clock.sleep_for(5ms, {}));
  sleeper.request_stop();
}

TEST(Rfc3339, IsWrittenInUtc) {
  EXPECT_EQ(to_rfc3339(kMoment), "2026-11-21T08:04:56Z");
  EXPECT_EQ(to_rfc3339_ms(kMoment), "2026-11-21T08:04:56.123Z");
  EXPECT_EQ(to_rfc3339_ms(Clock::Wall{} - 1ms), "1969-12-31T23:59:59.999Z");
}

TEST(Rfc3339, IsReadWithFractionAndOffset) {
  const Clock::Wall second = std::chrono::floor<std::chrono::seconds>(kMoment);
  EXPECT_EQ(parse_rfc3339("2026-11-21T08:04:56Z"), second);
  EXPECT_EQ(parse_rfc3339("2026-11-21T08:04:56.123Z"), kMoment);
  EXPECT_EQ(parse_rfc3339("2026-11-21T08:04:56.123456789Z"), kMoment + 456789ns);
  EXPECT_EQ(parse_rfc3339("2026-11-21T10:34:56+02:30"), second);
  EXPECT_EQ(parse_rfc3339("2026-11-20T23:04:56.123-09:00"), kMoment);
}

TEST(Rfc3339, CountsFractionsForwardAlsoBefore1970) {
  EXPECT_EQ(parse_rfc3339("1969-12-31T23:59:59.999Z"), Clock::Wall{} - 1ms);
}

TEST(Rfc3339, ReadsTheZeroTimeOfAlertmanagerAsTheBeginningOfTime) {
  EXPECT_EQ(parse_rfc3339("0001-01-01T00:00:00Z"), Clock::Wall::min());
  EXPECT_EQ(parse_rfc3339("9999-12-31T23:59:59Z"), Clock::Wall::max());
}

TEST(Rfc3339, WritesTheEndsOfTimeWithoutTrouble) {
  EXPECT_EQ(to_rfc3339(Clock::Wall::min()), "1677-09-21T00:12:43Z");
  EXPECT_EQ(to_rfc3339(Clock::Wall::max()), "2262-04-11T23:47:16Z");
  EXPECT_EQ(to_rfc3339_ms(Clock::Wall::min()), "1677-09-21T00:12:43.145Z");
  EXPECT_EQ(to_rfc3339_ms(Clock::Wall::max()), "2262-04-11T23:47:16.854Z");
}

TEST(Rfc3339, KnowsLeapYears) {
  EXPECT_TRUE(parse_rfc3339("2028-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_rfc3339("2026-02-29T00:00:00Z"));
}

TEST(Rfc3339, IsRefusedInAnyOtherForm) {
  for (const std::string_view text :
       {"", "2026-11-21", "2026-11-21T08:04:56", "2026-11-21 08:04:56Z", "2026-11-21T08:04Z",
        "2026-13-21T08:04:56Z", "2026-11-31T08:04:56Z", "2026-11-21T24:04:56Z",
        "2026-11-21T08:60:56Z", "2026-11-21T08:04:61Z", "2026-11-21T08:04:56.Z",
        "2026-11-21T08:04:56.1234567890Z", "2026-11-21T08:04:56+0200", "2026-11-21T08:04:56Zx",
        "26-11-21T08:04:56Z", "2026-11-21T08:04:-1Z"}) {
    EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace gpuward
