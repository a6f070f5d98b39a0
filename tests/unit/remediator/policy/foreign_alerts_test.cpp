#include "remediator/policy/foreign_alerts.h"

#include <gmock/gmock.h>

#include "remediator/model/evidence.h"
#include "remediator/policy/policy.h"
#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

Result<Policy> with_foreign(const std::string& rules) {
  return parse_policy("foreign_alerts:\n" + rules);
}

TEST(ForeignAlerts, MatchByAllTheirLabelsAndTheFirstRuleWins) {
  const auto policy = with_foreign(
      "  - match: {alertname: Dcgm*, err_code: \"79\"}\n"
      "    node_label: Hostname\n"
      "    severity: isolate\n"
      "  - {match: {alertname: DcgmXid}, severity: reset}\n");
  ASSERT_TRUE(policy) << policy.error().message;
  const auto& rules = policy->foreign_alerts;
  ASSERT_THAT(rules, SizeIs(2));
  EXPECT_EQ(rules[0].node_label, "Hostname");
  EXPECT_EQ(rules[1].node_label, "node");

  EXPECT_EQ(rule_for(rules, {{"alertname", "DcgmXid"}, {"err_code", "79"}}), &rules[0]);
  EXPECT_EQ(rule_for(rules, {{"alertname", "DcgmXid"}, {"err_code", "31"}}), &rules[1]);
  EXPECT_EQ(rule_for(rules, {{"alertname", "DcgmXid"}}), &rules[1]);
  EXPECT_EQ(rule_for(rules, {{"alertname", "Watchdog"}, {"err_code", "79"}}), nullptr);
  EXPECT_EQ(rules[0].severity, Severity::kIsolate);
}

TEST(ForeignAlerts, NameANodePerhapsWithAPort) {
  EXPECT_EQ(without_port("gpu-01:9400"), "gpu-01");
  EXPECT_EQ(without_port("gpu-01"), "gpu-01");
  EXPECT_EQ(without_port("gpu-01:"), "gpu-01:");
  EXPECT_EQ(without_port("gpu-01:x1"), "gpu-01:x1");
  EXPECT_EQ(without_port(""), "");
}

TEST(ForeignAlerts, AreRefusedWithTheirLineIfTheyCannotBeMeant) {
  struct Row {
    const char* rule;
    const char* says;
  };
  const Row rows[] = {
      {"  - {severity: reset}\n", "policy.yaml:2: foreign_alerts[0].match: must name labels"},
      {"  - {match: {}, severity: reset}\n", "must name labels"},
      {"  - {match: {alertname: \"\"}, severity: reset}\n", "must name labels"},
      {"  - {match: {alertname: A}}\n", "severity: is required"},
      {"  - {match: {alertname: A}, severity: fatal}\n", "one of isolate, reboot, reset, monitor"},
      {"  - {match: {alertname: A}, severity: none}\n", "one of isolate, reboot, reset, monitor"},
      {"  - {match: {alertname: A}, severity: reset, node_label: \"\"}\n", "node_label"},
      {"  - {match: {alertname: A}, severity: reset, node: gpu-01}\n", "unknown key"},
  };
  for (const Row& row : rows) {
    const auto policy = with_foreign(row.rule);
    ASSERT_FALSE(policy) << row.rule;
    EXPECT_THAT(policy.error().message, HasSubstr(row.says)) << row.rule;
  }
}

TEST(ForeignAlerts, AreMarkedInTheEvidence) {
  Remediation remediation;
  const AlertSignal signal{.node = "gpu-01",
                           .severity = Severity::kReset,
                           .alertname = "DcgmXid",
                           .fingerprint = "ab",
                           .firing = true,
                           .starts_at = {},
                           .ends_at = {},
                           .foreign = true};

  EXPECT_EQ(fold(remediation, signal, {}), Change::kSome);

  ASSERT_THAT(remediation.alerts, SizeIs(1));
  EXPECT_TRUE(remediation.alerts[0].foreign);
}

}  // namespace
}  // namespace gpuward::remediator
