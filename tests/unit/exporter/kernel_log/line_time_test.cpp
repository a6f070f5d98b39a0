#include "exporter/kernel_log/line_time.h"

#include <gtest/gtest.h>

#include <string>

#include "core/runtime/clock.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;

std::chrono::system_clock::time_point moment(const char* text) {
  const auto time = parse_rfc3339(text);
  EXPECT_TRUE(time) << text;
  return time.value_or(std::chrono::system_clock::time_point{});
}

constexpr const char* kTimeOfReading = "2026-11-29T20:00:00Z";

LineTime time_of(const std::string& header) {
  return read_line_time(header + "NVRM: Xid (PCI:0000:4e:00): 79, GPU has fallen off the bus.",
                        moment(kTimeOfReading));
}

TEST(LineTime, IsThatOfAHeaderWithAZone) {
  EXPECT_EQ(time_of("2026-11-28T10:26:53.958539+08:00 node kernel: ").latest,
            moment("2026-11-28T02:26:53Z"));
  EXPECT_EQ(time_of("2026-11-28T10:26:53Z node kernel: ").latest, moment("2026-11-28T10:26:53Z"));
  EXPECT_EQ(time_of("2026-11-28T10:26:53-0700 node kernel: ").latest,
            moment("2026-11-28T17:26:53Z"));
  EXPECT_EQ(time_of("192.0.2.1: kern: warning: [2026-11-28T21:30:51.526447914Z]: ").latest,
            moment("2026-11-28T21:30:51Z"));
}

TEST(LineTime, OfAHeaderWithoutAZoneIsTheLatestThatFits) {
  for (const char* header :
       {"Nov 27 10:00:00 node kernel: ", "[Fri Nov 27 10:00:00 2026] ",
        "Fri Nov 27 10:00:00 2026 kern.warn kernel: [   21.443000] ",
        "Nov 27 10:00:00 node kernel: [912345.678901] ", "2026-11-27 10:00:00 "}) {
    EXPECT_EQ(time_of(header).latest, moment("2026-11-27T22:00:00Z")) << header;
  }
}

TEST(LineTime, IsNeverAfterNow) {
  EXPECT_EQ(time_of("Nov 29 19:59:00 node kernel: ").latest, moment(kTimeOfReading));
  EXPECT_EQ(time_of("2030-01-01T00:00:00Z node kernel: ").latest, moment(kTimeOfReading));
}

TEST(LineTime, WithoutAYearIsOfTheLastSuchDay) {
  EXPECT_EQ(time_of("Aug  1 03:12:44 node kernel: ").latest, moment("2026-08-01T15:12:44Z"));
  EXPECT_EQ(time_of("Dec 24 03:12:44 node kernel: ").latest, moment("2025-12-24T15:12:44Z"));
  EXPECT_EQ(time_of("Nov 30 03:00:00 node kernel: ").latest, moment(kTimeOfReading))
      << "tomorrow, further east";
}

TEST(LineTime, EastOfUtcIsOfTheYearThatHasBegunThere) {
  const LineTime time =
      read_line_time("Jan  1 00:30:00 node kernel: NVRM: Xid (PCI:0000:4e:00): 79",
                     moment("2026-12-31T20:00:00Z"));
  EXPECT_EQ(time.latest, moment("2026-12-31T20:00:00Z"));
}

// The clock counts nanoseconds in 64 bits: 292 years on either side of 1970.
TEST(LineTime, OutsideOfTheClocksRangeIsTheNearestThatFits) {
  for (const char* header : {"2300-01-01T00:00:00Z node kernel: ", "9999-12-31 23:59:59 ",
                             "[Fri Nov 27 10:00:00 2300] "}) {
    EXPECT_EQ(time_of(header).latest, moment(kTimeOfReading)) << header;
  }
  EXPECT_LT(time_of("0001-01-01T00:00:00Z node kernel: ").latest, moment("1971-01-01T00:00:00Z"));
  for (const char* header : {"[9999999999.000000] ", "4,1227,9223372036854775807,-;"}) {
    const auto since_boot = time_of(header).since_boot;
    ASSERT_TRUE(since_boot) << header;
    EXPECT_GT(*since_boot, moment(kTimeOfReading).time_since_epoch()) << header;
    EXPECT_LT(*since_boot, moment("2027-11-29T20:00:00Z").time_since_epoch()) << header;
  }
}

TEST(LineTime, IsSinceABootWhereNoCalendarIsUsed) {
  EXPECT_EQ(time_of("[   12.345678] ").since_boot, 12'345'678us);
  EXPECT_FALSE(time_of("[   12.345678] ").latest);
  EXPECT_EQ(time_of("4,1227,437812,-;").since_boot, 437'812us);
  EXPECT_EQ(time_of("kern  :warn  : [   12.500000] ").since_boot, 12'500'000us);
}

TEST(LineTime, IsUnknownWithoutAHeaderThatSaysIt) {
  for (const char* header : {"", "kernel: ", "node kernel: ", "[sam. nov. 28 13:53:12 2026] ",
                             "Nov 99 10:00:00 node kernel: ", "[  +0.000844] "}) {
    const LineTime time = time_of(header);
    EXPECT_FALSE(time.latest) << header;
    EXPECT_FALSE(time.since_boot) << header;
  }
}

// A message may contain any time.
TEST(LineTime, IsNotTakenFromTheMessage) {
  const LineTime time =
      read_line_time("NVRM: Xid (PCI:0000:4e:00): 13, pid=7, name=[2019-01-01T00:00:00Z], x",
                     moment(kTimeOfReading));
  EXPECT_FALSE(time.latest);
}

}  // namespace
}  // namespace gpuward::exporter
