// The routing: requests reach the remediator at once, and problems of the monitoring reach only
// operators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime/files.h"
#include "tests/alerts/alert_rules.h"
#include "tests/alerts/command.h"
#include "tests/support/neighbours.h"

namespace gpuward::alerts {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string config_file() { return alerts_folder() / "alertmanager.yaml"; }

// The routes, as amtool prints them.
class AlertmanagerRoutes : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(support::tier_of(GetParam()),
                       support::why_no_program_of(GetParam(), "amtool"));
  }
  static std::string amtool() { return support::program_of(GetParam(), "amtool"); }
  // The receivers that an alert with these labels reaches.
  static std::string receivers_of(std::vector<std::string> labels) {
    std::vector<std::string> argv{amtool(), "config", "routes", "test",
                                  "--config.file=" + config_file()};
    argv.insert(argv.end(), labels.begin(), labels.end());
    auto outcome = support::Process::run({.argv = std::move(argv)});
    return outcome ? outcome->output.substr(0, outcome->output.find('\n'))
                   : outcome.error().message;
  }
  static std::string receivers_of(const AlertRule& rule, const std::string& node) {
    std::vector<std::string> labels{"alertname=" + rule.name, "node=" + node};
    for (const auto& [label, value] : rule.labels) labels.push_back(label + "=" + value);
    return receivers_of(std::move(labels));
  }
};
GPUWARD_ON_DEBIANS_AND_NEWER(AlertmanagerRoutes);

TEST_P(AlertmanagerRoutes, PassAmtool) {
  const Said said = run({amtool(), "check-config", config_file()});
  EXPECT_EQ(said.exit_code, 0) << said.text;
}

TEST_P(AlertmanagerRoutes, SendEveryLevelOfNodeSeverityToTheRemediator) {
  EXPECT_EQ(receivers_of({"remediation=isolate", "severity=critical", "node=a"}),
            "gpuward-remediator,pager");
  EXPECT_EQ(receivers_of({"remediation=reboot", "severity=critical", "node=a"}),
            "gpuward-remediator,pager");
  EXPECT_EQ(receivers_of({"remediation=reset", "severity=warning", "node=a"}),
            "gpuward-remediator,pager");
  EXPECT_EQ(receivers_of({"remediation=monitor", "severity=info", "node=a"}), "gpuward-remediator");
}

TEST_P(AlertmanagerRoutes, SendNothingElseToTheRemediator) {
  for (const AlertRule& rule : load_alert_rules()) {
    const bool is_order = !rule.label("remediation").empty() || !rule.label("drill").empty();
    const bool is_heartbeat = rule.name == "GpuwardDeadMansSwitch";
    EXPECT_EQ(receivers_of(rule, "gpu-1").starts_with("gpuward-remediator"),
              is_order || is_heartbeat)
        << rule.name;
  }
  EXPECT_EQ(receivers_of({"alertname=GpuExporterDown", "severity=warning", "node=a"}), "pager");
  EXPECT_EQ(receivers_of({"remediation=paint", "severity=info", "node=a"}), "nobody");
}

TEST_P(AlertmanagerRoutes, TellPeopleTheDetailsOfANodeAndNobodyWhatIsForDashboards) {
  EXPECT_EQ(receivers_of({"hidden_by=node", "severity=warning", "node=a"}), "pager");
  EXPECT_EQ(receivers_of({"hidden_by=node", "severity=info", "node=a"}), "nobody");
}

TEST_P(AlertmanagerRoutes, SendTheDeadMansSwitchToTheRemediatorAndToAServiceOfItsOwn) {
  EXPECT_EQ(receivers_of({"alertname=GpuwardDeadMansSwitch", "severity=info"}),
            "gpuward-remediator,dead-mans-switch");
}

TEST_P(AlertmanagerRoutes, SendADrillToTheRemediatorAndToNobodyElse) {
  EXPECT_EQ(receivers_of({"alertname=GpuDrill", "drill=true", "drill_remediation=reboot",
                          "severity=info", "node=a"}),
            "gpuward-remediator");
  EXPECT_EQ(receivers_of({"drill=true", "severity=critical", "node=a"}), "gpuward-remediator");
}

TEST_P(AlertmanagerRoutes, NeverOrderAnythingForANodeWithoutAName) {
  EXPECT_EQ(receivers_of({"remediation=reboot", "severity=critical"}), "pager");
}

TEST(AlertmanagerConfig, IsTunedForSpeedAndGroupsByNode) {
  const std::string config = *read_file(config_file());
  const std::string orders =
      config.substr(config.find("remediation=~\"isolate|reboot|reset\"', 'node"), 200);
  EXPECT_THAT(orders, HasSubstr("group_wait: 0s"));
  EXPECT_THAT(orders, HasSubstr("continue: true"));
  EXPECT_THAT(config, HasSubstr("\n  group_by: [cluster, node]\n"));
}

TEST(AlertmanagerConfig, AuthenticatesByAFileAndFollowsNoRedirect) {
  const std::string config = *read_file(config_file());
  EXPECT_THAT(config, HasSubstr("type: Bearer"));
  EXPECT_THAT(config, HasSubstr("credentials_file: "));
  EXPECT_THAT(config, Not(HasSubstr("credentials: ")));
  EXPECT_THAT(config, HasSubstr("follow_redirects: false"));
  EXPECT_THAT(config, HasSubstr("send_resolved: true"));
}

}  // namespace
}  // namespace gpuward::alerts
