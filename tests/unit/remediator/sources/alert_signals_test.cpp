#include <gmock/gmock.h>

#include "remediator/sources/alertmanager_alerts.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Alert alert(std::map<std::string, std::string> labels) {
  Alert made;
  made.labels = std::move(labels);
  made.fingerprint = "ab";
  return made;
}

AlertSignals orders_of(std::map<std::string, std::string> labels) {
  const std::vector<Alert> alerts = {alert(std::move(labels))};
  return to_signals(alerts);
}

TEST(AlertSignals, TakeNodeSeverityAndName) {
  const AlertSignals orders =
      orders_of({{"node", "gpu-01"}, {"remediation", "reset"}, {"alertname", "A"}});

  ASSERT_THAT(orders.orders, SizeIs(1));
  EXPECT_EQ(orders.orders[0].node, "gpu-01");
  EXPECT_EQ(orders.orders[0].severity, Severity::kReset);
  EXPECT_EQ(orders.orders[0].alertname, "A");
  EXPECT_EQ(orders.orders[0].error_class, "GPU_HEALTH_ERROR");
}

TEST(AlertSignals, IgnoreAlertsThatAskForNothing) {
  const AlertSignals orders = orders_of({{"alertname", "Watchdog"}});

  EXPECT_THAT(orders.orders, IsEmpty());
  EXPECT_THAT(orders.rejected, IsEmpty());
  EXPECT_EQ(orders.ignored, 1U);
}

TEST(AlertSignals, RejectUnknownRemediations) {
  for (const char* word : {"none", "REBOOT", "pass", "terminate", "reboot "}) {
    const AlertSignals orders = orders_of({{"node", "gpu-01"}, {"remediation", word}});
    ASSERT_THAT(orders.rejected, SizeIs(1)) << word;
    EXPECT_THAT(orders.rejected[0].what, HasSubstr("label remediation"));
  }
}

TEST(AlertSignals, RejectNodeNamesThatMustNotReachAUrl) {
  for (const std::string& name :
       {std::string(), std::string("../../pods"), std::string("a%2fb"), std::string("a/b"),
        std::string("GPU-01"), std::string("gpu 01"), std::string("gpu-01\n"), std::string("."),
        std::string("n\xc3\xb6"), std::string("a?b=c"), std::string("-a"), std::string(300, 'a'),
        std::string("a\0b", 3)}) {
    const AlertSignals orders = orders_of({{"node", name}, {"remediation", "reboot"}});
    EXPECT_THAT(orders.orders, IsEmpty()) << name;
    ASSERT_THAT(orders.rejected, SizeIs(1));
    EXPECT_THAT(orders.rejected[0].what, HasSubstr("label node"));
  }
}

TEST(AlertSignals, DoNotLoseGoodAlertsBesideABadOne) {
  const std::vector<Alert> alerts = {alert({{"remediation", "reboot"}}),
                                     alert({{"node", "gpu-01"}, {"remediation", "reboot"}})};

  const AlertSignals orders = to_signals(alerts);

  ASSERT_THAT(orders.orders, SizeIs(1));
  ASSERT_THAT(orders.rejected, SizeIs(1));
  EXPECT_EQ(orders.rejected[0].index, 0U);
}

TEST(AlertSignals, TakeNodeAndSeverityOfAForeignAlertFromItsRule) {
  const std::vector<ForeignAlertRule> rules = {
      {.match = {{"alertname", "Dcgm*"}}, .node_label = "Hostname", .severity = Severity::kReboot}};
  const std::vector<Alert> alerts = {
      alert({{"alertname", "DcgmXid"}, {"Hostname", "gpu-01:9400"}, {"node", "exporter-pod"}}),
      alert({{"alertname", "DcgmXid"}, {"node", "gpu-01"}}),
      alert({{"alertname", "DcgmXid"}, {"Hostname", "no node!"}}),
      alert({{"alertname", "Watchdog"}, {"Hostname", "gpu-01"}}),
      alert({{"alertname", "DcgmOurs"}, {"node", "gpu-02"}, {"remediation", "reset"}})};

  const AlertSignals orders = to_signals(alerts, rules);

  ASSERT_THAT(orders.orders, SizeIs(2));
  EXPECT_EQ(orders.orders[0].node, "gpu-01");
  EXPECT_EQ(orders.orders[0].severity, Severity::kReboot);
  EXPECT_TRUE(orders.orders[0].foreign);
  EXPECT_EQ(orders.orders[1].node, "gpu-02");
  EXPECT_EQ(orders.orders[1].severity, Severity::kReset);
  EXPECT_FALSE(orders.orders[1].foreign);
  EXPECT_EQ(orders.ignored, 1U);
  ASSERT_THAT(orders.rejected, SizeIs(2));
  EXPECT_THAT(orders.rejected[0].what, HasSubstr("label Hostname: missing"));
  EXPECT_THAT(orders.rejected[1].what, HasSubstr("label Hostname: not a valid node name"));
}

}  // namespace
}  // namespace gpuward::remediator
