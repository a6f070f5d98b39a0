#include "remediator/policy/maintenance_window.h"

#include <gmock/gmock.h>

#include "core/runtime/clock.h"
#include "remediator/policy/policy.h"
#include "remediator/policy/policy_text.h"
#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

Result<Policy> policy_with(const std::string& window, const std::string& named = "nights") {
  return parse_policy(
      "mode: full\nseverities:\n  isolate:\n    - cordon\n"
      "    - wait: {window: " +
      named +
      "}\n    - drain\n"
      "maintenance_windows:\n  - " +
      window + "\n");
}

MaintenanceWindow window_of(const std::string& yaml) {
  const auto policy = policy_with(yaml);
  EXPECT_TRUE(policy) << policy.error().message;
  return policy ? policy->windows.at(0) : MaintenanceWindow{};
}

Clock::Wall at(const std::string& time) { return *parse_rfc3339(time); }

// 2026-11-20 is a Friday.
TEST(MaintenanceWindow, IsOpenFromItsStartToItsEnd) {
  const auto window = window_of("{name: nights, start: \"22:00\", duration: 90m}");

  EXPECT_FALSE(is_open(window, at("2026-11-20T21:59:59Z")));
  EXPECT_TRUE(is_open(window, at("2026-11-20T22:00:00Z")));
  EXPECT_TRUE(is_open(window, at("2026-11-20T23:29:59Z")));
  EXPECT_FALSE(is_open(window, at("2026-11-20T23:30:00Z")));
}

TEST(MaintenanceWindow, GoesOverMidnightIntoADayThatItDoesNotName) {
  const auto window = window_of("{name: nights, days: [fri], start: \"22:00\", duration: 8h}");

  EXPECT_TRUE(is_open(window, at("2026-11-21T05:59:59Z")));
  EXPECT_FALSE(is_open(window, at("2026-11-21T06:00:00Z")));
  EXPECT_FALSE(is_open(window, at("2026-11-21T23:00:00Z")));
  EXPECT_FALSE(is_open(window, at("2026-11-20T05:00:00Z")));
}

TEST(MaintenanceWindow, LastsUpToAWeek) {
  const auto window = window_of("{name: nights, days: [fri], start: \"22:00\", duration: 7d}");

  EXPECT_TRUE(is_open(window, at("2026-11-20T21:59:00Z")));
  EXPECT_TRUE(is_open(window, at("2026-11-20T22:00:00Z")));
}

TEST(MaintenanceWindow, HasItsDaysAndTimesAtItsDistanceToUtc) {
  const auto window = window_of(
      "{name: nights, days: [sat], start: \"00:30\", duration: 1h, utc_offset: \"+02:00\"}");

  EXPECT_TRUE(is_open(window, at("2026-11-20T22:30:00Z")));  // already Saturday there
  EXPECT_FALSE(is_open(window, at("2026-11-21T22:30:00Z")));
  EXPECT_TRUE(
      is_open(window_of("{name: nights, days: [fri], start: \"22:00\", duration: 1h, utc_offset: "
                        "\"-05:30\"}"),
              at("2026-11-21T03:30:00Z")));
}

TEST(MaintenanceWindow, KeepsTheTimeOfTheDayOfItsTimeZoneThroughTheYear) {
  const auto window =
      window_of("{name: nights, start: \"22:00\", duration: 1h, time_zone: Europe/Berlin}");

  EXPECT_TRUE(is_open(window, at("2026-01-20T21:00:00Z")));
  EXPECT_FALSE(is_open(window, at("2026-01-20T20:59:59Z")));
  EXPECT_TRUE(is_open(window, at("2026-07-20T20:00:00Z")));
  EXPECT_FALSE(is_open(window, at("2026-07-20T21:00:00Z")));
  EXPECT_EQ(next_opening(window, at("2026-07-20T21:00:00Z")), at("2026-07-21T20:00:00Z"));
  const auto there = window_of(
      "{name: nights, days: [sat], start: \"00:30\", duration: 1h, time_zone: Asia/Kolkata}");
  EXPECT_TRUE(is_open(there, at("2026-11-20T19:00:00Z"))) << "Saturday there";
}

// In Berlin the clocks go from 02:00 to 03:00 on 2026-03-29, and from 03:00 to 02:00 on 2026-10-25.
TEST(MaintenanceWindow, OpensOnceInTheNightsWhenTheClocksAreSet) {
  const auto window =
      window_of("{name: nights, start: \"02:30\", duration: 2h, time_zone: Europe/Berlin}");

  EXPECT_EQ(next_opening(window, at("2026-03-28T12:00:00Z")), at("2026-03-29T01:00:00Z"));
  EXPECT_TRUE(is_open(window, at("2026-03-29T02:59:59Z")));
  EXPECT_FALSE(is_open(window, at("2026-03-29T03:00:00Z")));
  EXPECT_EQ(next_opening(window, at("2026-10-24T12:00:00Z")), at("2026-10-25T00:30:00Z"));
  EXPECT_TRUE(is_open(window, at("2026-10-25T02:29:59Z")));
  EXPECT_FALSE(is_open(window, at("2026-10-25T02:30:00Z")));
  EXPECT_EQ(next_opening(window, at("2026-10-25T00:30:00Z")), at("2026-10-26T01:30:00Z"));
}

TEST(MaintenanceWindow, OpensNextOnTheNextOfItsDays) {
  const auto window = window_of("{name: nights, days: [mon, fri], start: \"22:00\", duration: 1h}");

  EXPECT_EQ(next_opening(window, at("2026-11-20T21:00:00Z")), at("2026-11-20T22:00:00Z"));
  EXPECT_EQ(next_opening(window, at("2026-11-20T22:00:00Z")), at("2026-11-23T22:00:00Z"));
  EXPECT_EQ(next_opening(window_of("{name: nights, days: [fri], start: \"22:00\", duration: 1h}"),
                         at("2026-11-20T22:30:00Z")),
            at("2026-11-27T22:00:00Z"));
}

TEST(MaintenanceWindow, IsRefusedWithItsLineIfItCannotBeMeant) {
  struct Row {
    const char* window;
    const char* says;
  };
  const Row rows[] = {
      {"{start: \"22:00\", duration: 1h}", "policy.yaml:8: maintenance_windows[0].name"},
      {"{name: nights, duration: 1h}", "start: is required"},
      {"{name: nights, start: \"24:00\", duration: 1h}", "a time of day"},
      {"{name: nights, start: \"7:00\", duration: 1h}", "a time of day"},
      {"{name: nights, start: \"22:60\", duration: 1h}", "a time of day"},
      {"{name: nights, start: \"22:00\"}", "duration: is required"},
      {"{name: nights, start: \"22:00\", duration: 0s}",
       "duration: must be a duration from 1m to 7d"},
      {"{name: nights, start: \"22:00\", duration: 8d}",
       "duration: must be a duration from 1m to 7d"},
      {"{name: nights, start: \"22:00\", duration: 1h, days: []}", "never open"},
      {"{name: nights, start: \"22:00\", duration: 1h, days: [friday]}", "one of sun"},
      {"{name: nights, start: \"22:00\", duration: 1h, utc_offset: Europe/Berlin}", "utc_offset"},
      {"{name: nights, start: \"22:00\", duration: 1h, time_zone: Europe/Berlim}",
       "time_zone: is not in this machine's time zone database (Europe/Berlim)"},
      {"{name: nights, start: \"22:00\", duration: 1h, time_zone: ../../etc/passwd}", "time_zone"},
      {"{name: nights, start: \"22:00\", duration: 1h, time_zone: UTC, utc_offset: \"+01:00\"}",
       "set only one of them"},
      {"{name: nights, start: \"22:00\", duration: 1h, utc_offset: \"+15:00\"}", "utc_offset"},
      {"{name: nights, start: \"22:00\", duration: 1h}\n"
       "  - {name: nights, start: \"23:00\", duration: 1h}",
       "policy.yaml:9: maintenance_windows[1].name: is the name of two windows"},
  };
  for (const Row& row : rows) {
    const auto policy = policy_with(row.window);
    ASSERT_FALSE(policy) << row.window;
    EXPECT_THAT(policy.error().message, HasSubstr(row.says)) << row.window;
  }
}

TEST(MaintenanceWindow, HasToBeThereIfAStepWaitsForIt) {
  const auto policy = policy_with("{name: nights, start: \"22:00\", duration: 1h}", "mornings");

  ASSERT_FALSE(policy);
  EXPECT_THAT(policy.error().message,
              HasSubstr("policy.yaml:2: severities: the step drain in severities.isolate waits"));
}

TEST(MaintenanceWindow, IsNamedIfThePolicyIsExplained) {
  EXPECT_THAT(severity_text(*policy_with("{name: nights, start: \"22:00\", duration: 1h}"),
                            Severity::kIsolate),
              HasSubstr("waits for the maintenance window nights"));
}

}  // namespace
}  // namespace gpuward::remediator
