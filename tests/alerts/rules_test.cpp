// The rules: they are valid and tested, and follow the conventions that the remediator and
// operators rely on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "core/runtime/files.h"
#include "tests/alerts/alert_rules.h"
#include "tests/alerts/command.h"
#include "tests/support/neighbours.h"
#include "tests/support/temp_dir.h"

namespace gpuward::alerts {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;

std::vector<std::string> unit_test_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(alerts_folder())) {
    if (entry.path().string().ends_with(".rules.test.yaml")) files.push_back(entry.path());
  }
  return files;
}

class AlertRulesInPromtool : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(support::tier_of(GetParam()),
                       support::why_no_program_of(GetParam(), "promtool"));
  }
  static std::string promtool() { return support::program_of(GetParam(), "promtool"); }
};
GPUWARD_ON_DEBIANS_AND_NEWER(AlertRulesInPromtool);

TEST_P(AlertRulesInPromtool, PassItsCheckAndLint) {
  const Said said = run({promtool(), "check", "rules", "--lint=all", "--lint-fatal",
                         alerts_folder() / "gpuward.rules.yaml"});
  EXPECT_EQ(said.exit_code, 0) << said.text;
}

TEST_P(AlertRulesInPromtool, PassTheirUnitTests) {
  const auto files = unit_test_files();
  EXPECT_GE(files.size(), 3U);
  // One file at a time: all together would exceed the time limit of a program on a busy machine.
  for (const std::string& file : files) {
    const Said said = run({promtool(), "test", "rules", file});
    EXPECT_EQ(said.exit_code, 0) << file << ": " << said.text;
  }
}

// Tests the tests: the unit tests must notice a changed threshold.
TEST_P(AlertRulesInPromtool, FailTheirUnitTestsWhenAThresholdSlips) {
  const support::TempDir folder;
  const std::string rules = *read_file(alerts_folder() / "gpuward.rules.yaml");
  folder.write("gpuward.rules.yaml", std::regex_replace(rules, std::regex(">= 4\n"), ">= 3\n"));
  folder.write("tests.yaml", *read_file(alerts_folder() / "gpuward.rules.test.yaml"));
  EXPECT_EQ(run({promtool(), "test", "rules", folder / "tests.yaml"}).exit_code, 1);
}

TEST(AlertRules, DeadAlertRuleIsSeenForEachHasAFiringAndAQuietTest) {
  std::string tests;
  for (const std::string& file : unit_test_files()) tests += *read_file(file);
  for (const AlertRule& rule : load_alert_rules()) {
    // The block form has expected alerts; the quiet form is one line in braces.
    EXPECT_THAT(tests, ::testing::HasSubstr("- alertname: " + rule.name + "\n"));
    EXPECT_THAT(tests, ::testing::ContainsRegex("[{]alertname: " + rule.name +
                                                ", eval_time: [0-9a-z]+, exp_alerts: \\[\\][}]"));
  }
}

TEST(AlertRules, SayHowLongTheyWaitAndHowLoudTheyAre) {
  for (const AlertRule& rule : load_alert_rules()) {
    EXPECT_TRUE(std::regex_match(rule.name, std::regex("Gpu[A-Za-z]+"))) << rule.name;
    EXPECT_NE(rule.wait, "") << rule.name << " has no `for`";
    EXPECT_THAT(rule.label("severity"), AnyOf("critical", "warning", "info")) << rule.name;
    EXPECT_NE(rule.annotations.at("summary"), "") << rule.name;
    EXPECT_NE(rule.annotations.at("description"), "") << rule.name;
  }
}

// A value in a label makes a new alert of each change, and a new request of each new alert.
TEST(AlertRules, KeepValuesOutOfLabels) {
  for (const AlertRule& rule : load_alert_rules()) {
    for (const auto& [label, value] : rule.labels) {
      EXPECT_THAT(value, Not(::testing::HasSubstr("{{"))) << rule.name << " label " << label;
    }
  }
}

TEST(AlertRules, GiveEachLevelOfNodeSeverityOneRemediation) {
  std::map<std::string, std::string> expression_of;
  for (const AlertRule& rule : load_alert_rules()) {
    if (rule.group == "gpuward-node") expression_of[rule.label("remediation")] = rule.expr;
  }
  using ::testing::EndsWith;
  using ::testing::Pair;
  EXPECT_THAT(
      expression_of,
      ::testing::ElementsAre(Pair("isolate", EndsWith(">= 4")), Pair("monitor", EndsWith(">= 1")),
                             Pair("reboot", EndsWith(">= 3")), Pair("reset", EndsWith(">= 2"))));
}

// Details that Alertmanager inhibits under the node's own alert.
TEST(AlertRules, SayOfEachDetailOfAGpuThatTheNodesAlertHidesIt) {
  for (const AlertRule& rule : load_alert_rules()) {
    const bool is_detail = rule.group == "gpuward-gpu" || rule.name == "GpuXidRepeating";
    EXPECT_EQ(rule.label("hidden_by"), is_detail ? "node" : "") << rule.name;
  }
}

TEST(AlertRules, NeverCallAProblemOfTheMonitoringABrokenNode) {
  for (const AlertRule& rule : load_alert_rules()) {
    if (rule.group == "gpuward-node") continue;
    EXPECT_THAT(rule.labels, Not(Contains(Key("remediation")))) << rule.name;
  }
}

}  // namespace
}  // namespace gpuward::alerts
