#include "exporter/checks/schedule.h"

#include <gtest/gtest.h>

#include <set>

namespace gpuward::exporter {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const WallTime kStart(hours(24 * 20'000));

Timetable table_of(std::string_view node) {
  return {node_number(node), kStart, Clock::Steady(seconds(50))};
}

WallTime slot_of(std::string_view node, std::optional<WallTime> last, WallTime now = kStart) {
  return next_diagnostic_run(table_of(node), hours(6), last, now);
}

TEST(QuickRun, ComesSoonAfterTheStartAndThenAtItsInterval) {
  const Timetable table = table_of("gpu-node-1");
  const auto first = next_quick_run(table, seconds(300), {});
  EXPECT_GE(first, table.started_steady);
  EXPECT_LT(first, table.started_steady + seconds(10));
  EXPECT_EQ(next_quick_run(table, seconds(300), first), first + seconds(300));
}

TEST(QuickRun, IsNotTiedToAnIntervalOfNothing) {
  const Timetable table = table_of("gpu-node-1");
  EXPECT_EQ(next_quick_run(table, milliseconds(0), table.started_steady),
            table.started_steady + seconds(1));
}

TEST(DiagnosticRun, NeverComesWithTheStart) {
  for (int node = 0; node < 500; ++node) {
    const WallTime slot = slot_of("node-" + std::to_string(node), {});
    EXPECT_GE(slot, kStart + kQuietStart);
    EXPECT_LE(slot, kStart + kQuietStart + hours(6));
  }
}

TEST(DiagnosticRun, KeepsItsPlaceOverRestarts) {
  const WallTime slot = slot_of("gpu-node-1", {});
  Timetable restarted = table_of("gpu-node-1");
  restarted.started = slot - hours(1);
  EXPECT_EQ(next_diagnostic_run(restarted, hours(6), {}, restarted.started), slot);
}

TEST(DiagnosticRun, IsSpreadOverTheFleet) {
  std::set<std::int64_t> quarters;
  for (int node = 0; node < 400; ++node) {
    const WallTime slot = slot_of("ip-10-0-3-" + std::to_string(node) + ".ec2.internal", {});
    quarters.insert((slot.time_since_epoch() % hours(6)) / minutes(15));
  }
  EXPECT_EQ(quarters.size(), 24U);  // each quarter of an hour has some of 400 nodes
}

TEST(DiagnosticRun, DoesNotComeAgainInTheSameSlot) {
  const WallTime slot = slot_of("gpu-node-1", {});
  EXPECT_EQ(slot_of("gpu-node-1", slot, slot + seconds(1)), slot + hours(6));
  EXPECT_EQ(slot_of("gpu-node-1", slot, slot + minutes(10)), slot + hours(6));
}

TEST(DiagnosticRun, IsNotKeptAwayByAResultFromTheFuture) {
  const WallTime slot = slot_of("gpu-node-1", {});
  EXPECT_EQ(slot_of("gpu-node-1", kStart + hours(24 * 365)), slot);
}

TEST(TimeLimit, TheLongDiagnosticHasItsOwn) {
  CheckSettings settings;
  settings.check_timeout = seconds(3);
  CheckEntry entry;
  entry.number = 4;
  EXPECT_GT(time_limit_of(entry, settings), settings.dcgm_l4_timeout);
  entry.number = 1;
  EXPECT_GT(time_limit_of(entry, settings), settings.dcgm_timeout);
}

TEST(TimeLimit, IsTheSettingsElseTheOneForAllElseTheChecksOwn) {
  CheckSettings settings;
  CheckEntry entry;
  entry.timeout = seconds(30);
  EXPECT_EQ(time_limit_of(entry, settings), seconds(30));
  settings.check_timeout = seconds(90);
  EXPECT_EQ(time_limit_of(entry, settings), seconds(90));
  settings.timeouts[0] = seconds(7);
  EXPECT_EQ(time_limit_of(entry, settings), seconds(7));
  entry.number = 1;
  settings.dcgm_timeout = hours(1);
  EXPECT_GT(time_limit_of(entry, settings), hours(1));
}

// CHECK_TIMEOUT: checks 1, 4 and 5 have keys of their own, programs their own limits.
TEST(TimeLimit, ForAllIsThatOfTheChecksWithoutAKeyOfTheirOwn) {
  CheckSettings settings;
  std::map<int, std::chrono::milliseconds> before;
  for (const CheckEntry& entry : all_checks())
    before[entry.number] = time_limit_of(entry, settings);
  settings.check_timeout = seconds(100);
  for (const CheckEntry& entry : all_checks()) {
    const bool has_key = entry.number == 1 || entry.number == 4 || entry.number == 5;
    EXPECT_EQ(time_limit_of(entry, settings), has_key ? before[entry.number] : seconds(100))
        << entry.name;
  }
  CheckEntry program;
  program.number = kProgramNumber;
  program.timeout = seconds(31);
  EXPECT_EQ(time_limit_of(program, settings), seconds(31));
}

}  // namespace
}  // namespace gpuward::exporter
