// Alerts do not tire operators: three days of 200 nodes with ten times the published faults,
// maintenance, an upgrade of the exporters, a rack without network and a restart of Prometheus.
// alerts_bench runs the whole month.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime/files.h"
#include "tests/alerts/alert_rules.h"
#include "tests/alerts/month/month.h"
#include "tests/support/require.h"

namespace gpuward::alerts {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

MonthOptions three_days() {
  return {.size = {.nodes = 200, .days = 3, .fault_factor = 10},
          .rules = *read_file(rules_file()),
          .routes = *read_file(alerts_folder() / "alertmanager.yaml")};
}

// Returns the text with every `before` replaced by `after`; `before` must occur.
std::string changed(std::string text, const std::string& before, const std::string& after) {
  auto at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  for (; at != std::string::npos; at = text.find(before, at + after.size())) {
    text.replace(at, before.size(), after);
  }
  return text;
}

Verdict verdict_of(const MonthOptions& options) { return judge(simulate_month(options)); }

TEST(Pages, CallPeopleOnceForABrokenNodeAndForNothingElse) {
  GPUWARD_REQUIRE(support::why_no_program("prometheus"));
  const Month month = simulate_month(three_days());
  const Verdict verdict = judge(month);
  EXPECT_GE(verdict.broken, 10U);
  EXPECT_GE(month.fleet.maintenances, 10U);
  EXPECT_THAT(verdict.twice, IsEmpty());
  EXPECT_THAT(verdict.without_fault, IsEmpty());
  EXPECT_THAT(verdict.unpaged, IsEmpty());
  EXPECT_LE(Verdict::minutes(verdict.delays_of_broken, 0.99), 2);
}

// Tests the test: the simulation notices each of these changes.
TEST(Pages, AreWithoutAFaultIfADeadExporterPagesAfterAMinute) {
  GPUWARD_REQUIRE(support::why_no_program("prometheus"));
  MonthOptions options = three_days();
  options.rules = changed(options.rules, "for: 15m\n        keep_firing_for: 10m",
                          "for: 1m\n        keep_firing_for: 1m");
  EXPECT_THAT(verdict_of(options).without_fault, Contains(HasSubstr("GpuExporterDown")));
}

TEST(Pages, ComeAgainIfTheyAreRepeatedAfterHours) {
  GPUWARD_REQUIRE(support::why_no_program("prometheus"));
  MonthOptions options = three_days();
  options.routes = changed(options.routes, "repeat_interval: 5d", "repeat_interval: 4h");
  EXPECT_THAT(verdict_of(options).twice, Not(IsEmpty()));
}

TEST(Pages, ComeAgainIfADetailOutlastsWhatHidesIt) {
  GPUWARD_REQUIRE(support::why_no_program("prometheus"));
  MonthOptions options = three_days();
  options.rules = changed(options.rules, "keep_firing_for: 9m", "keep_firing_for: 10m");
  EXPECT_THAT(verdict_of(options).twice, Not(IsEmpty()));
}

TEST(Pages, AreMissingIfARuleSaysNothing) {
  GPUWARD_REQUIRE(support::why_no_program("prometheus"));
  MonthOptions options = three_days();
  options.rules = changed(options.rules, "efa_.+|", "nothing|");
  EXPECT_THAT(verdict_of(options).unpaged, Not(IsEmpty()));
}

}  // namespace
}  // namespace gpuward::alerts
