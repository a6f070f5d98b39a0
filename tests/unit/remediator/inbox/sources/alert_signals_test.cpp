#include <gmock/gmock.h>

#include "remediator/inbox/sources/alertmanager_alerts.h"
#include "remediator/model/evidence.h"
#include "remediator/model/history_alerts.h"

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

AlertSignals signals_of(std::map<std::string, std::string> labels) {
  const std::vector<Alert> alerts = {alert(std::move(labels))};
  return to_signals(alerts);
}

TEST(AlertSignals, TakeNodeSeverityAndName) {
  const AlertSignals signals =
      signals_of({{"node", "gpu-01"}, {"remediation", "reset"}, {"alertname", "A"}});

  ASSERT_THAT(signals.signals, SizeIs(1));
  EXPECT_EQ(signals.signals[0].node, "gpu-01");
  EXPECT_EQ(signals.signals[0].severity, Severity::kReset);
  EXPECT_EQ(signals.signals[0].alertname, "A");
  EXPECT_EQ(signals.signals[0].error_class, "GPU_HEALTH_ERROR");
}

TEST(AlertSignals, OfADrillAreThoseWithTheVeryLabelAndNoFaultIsHiddenByAnother) {
  const AlertSignals ours =
      signals_of({{"node", "gpu-01"}, {"drill", "true"}, {"drill_remediation", "reboot"}});
  const AlertSignals both =
      signals_of({{"node", "gpu-01"}, {"drill", "true"}, {"remediation", "reset"}});
  const AlertSignals odd =
      signals_of({{"node", "gpu-01"}, {"drill", "false"}, {"remediation", "reset"}});
  const AlertSignals real =
      signals_of({{"node", "gpu-01"}, {"remediation", "reset"}, {"drill_remediation", "isolate"}});

  ASSERT_THAT(ours.signals, SizeIs(1));
  EXPECT_TRUE(ours.signals[0].drill);
  EXPECT_EQ(ours.signals[0].severity, Severity::kReboot);
  ASSERT_THAT(both.signals, SizeIs(1));
  EXPECT_TRUE(both.signals[0].drill);
  ASSERT_THAT(odd.signals, SizeIs(1));
  EXPECT_FALSE(odd.signals[0].drill);
  ASSERT_THAT(real.signals, SizeIs(1));
  EXPECT_FALSE(real.signals[0].drill);
  EXPECT_EQ(real.signals[0].severity, Severity::kReset);
}

TEST(AlertSignals, IgnoreAlertsThatAskForNothing) {
  const AlertSignals signals = signals_of({{"alertname", "Watchdog"}});

  EXPECT_THAT(signals.signals, IsEmpty());
  EXPECT_THAT(signals.rejected, IsEmpty());
  EXPECT_EQ(signals.ignored, 1U);
}

TEST(AlertSignals, RejectUnknownRemediations) {
  for (const char* word : {"none", "REBOOT", "pass", "terminate", "reboot "}) {
    const AlertSignals signals = signals_of({{"node", "gpu-01"}, {"remediation", word}});
    ASSERT_THAT(signals.rejected, SizeIs(1)) << word;
    EXPECT_THAT(signals.rejected[0].what, HasSubstr("label remediation"));
  }
}

// No poll of Alertmanager would end them.
TEST(AlertSignals, RejectFingerprintsOfTheHistory) {
  std::vector<Alert> alerts = {alert({{"node", "gpu-01"}, {"remediation", "reset"}})};
  alerts[0].fingerprint = history_fingerprint(kReturnedAlert, "uid");

  const AlertSignals signals = to_signals(alerts);

  EXPECT_THAT(signals.signals, IsEmpty());
  ASSERT_THAT(signals.rejected, SizeIs(1));
  EXPECT_THAT(signals.rejected[0].what, HasSubstr("fingerprint"));
}

// An alert from outside with the name of one of gpuward's own alerts neither hides a machine that
// has returned nor makes one.
TEST(AlertSignals, AreNotOfTheHistoryByTheirName) {
  for (const std::string_view name : {kReturnedAlert, kContradictoryAlert, kOrphanedAlert}) {
    const AlertSignals signals = signals_of(
        {{"alertname", std::string(name)}, {"node", "gpu-01"}, {"remediation", "reset"}});
    ASSERT_THAT(signals.signals, SizeIs(1));
    Remediation remediation;
    ASSERT_EQ(fold(remediation, signals.signals[0], signals.signals[0].starts_at), Change::kSome);
    ASSERT_THAT(remediation.alerts, SizeIs(1));
    EXPECT_FALSE(is_of_history(remediation.alerts[0]));
    EXPECT_FALSE(is_contradictory(remediation));
    EXPECT_EQ(remediation.orphaned_taints(), nullptr);
  }
}

TEST(AlertSignals, RejectNodeNamesThatMustNotReachAUrl) {
  for (const std::string& name :
       {std::string(), std::string("../../pods"), std::string("a%2fb"), std::string("a/b"),
        std::string("GPU-01"), std::string("gpu 01"), std::string("gpu-01\n"), std::string("."),
        std::string("n\xc3\xb6"), std::string("a?b=c"), std::string("-a"), std::string(300, 'a'),
        std::string("a\0b", 3)}) {
    const AlertSignals signals = signals_of({{"node", name}, {"remediation", "reboot"}});
    EXPECT_THAT(signals.signals, IsEmpty()) << name;
    ASSERT_THAT(signals.rejected, SizeIs(1));
    EXPECT_THAT(signals.rejected[0].what, HasSubstr("label node"));
  }
}

TEST(AlertSignals, DoNotLoseGoodAlertsBesideABadOne) {
  const std::vector<Alert> alerts = {alert({{"remediation", "reboot"}}),
                                     alert({{"node", "gpu-01"}, {"remediation", "reboot"}})};

  const AlertSignals signals = to_signals(alerts);

  ASSERT_THAT(signals.signals, SizeIs(1));
  ASSERT_THAT(signals.rejected, SizeIs(1));
  EXPECT_EQ(signals.rejected[0].index, 0U);
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

  const AlertSignals signals = to_signals(alerts, {.foreign = rules});

  ASSERT_THAT(signals.signals, SizeIs(2));
  EXPECT_EQ(signals.signals[0].node, "gpu-01");
  EXPECT_EQ(signals.signals[0].severity, Severity::kReboot);
  EXPECT_TRUE(signals.signals[0].foreign);
  EXPECT_EQ(signals.signals[1].node, "gpu-02");
  EXPECT_EQ(signals.signals[1].severity, Severity::kReset);
  EXPECT_FALSE(signals.signals[1].foreign);
  EXPECT_EQ(signals.ignored, 1U);
  ASSERT_THAT(signals.rejected, SizeIs(2));
  EXPECT_THAT(signals.rejected[0].what, HasSubstr("label Hostname: missing"));
  EXPECT_THAT(signals.rejected[1].what, HasSubstr("label Hostname: not a valid node name"));
}

class AlertsOfTwoClusters : public ::testing::Test {
 protected:
  AlertSignals taken_by(std::string_view cluster) {
    return to_signals(alerts, {.cluster = cluster});
  }

  const std::vector<Alert> alerts = {
      alert({{"node", "gpu-01"}, {"remediation", "reset"}, {"cluster", "east"}}),
      alert({{"node", "gpu-01"}, {"remediation", "reboot"}, {"cluster", "west"}}),
      alert({{"node", "gpu-01"}, {"remediation", "isolate"}})};
};

TEST_F(AlertsOfTwoClusters, AreTakenByTheClusterThatTheyName) {
  const AlertSignals signals = taken_by("east");

  ASSERT_THAT(signals.signals, SizeIs(1));
  EXPECT_EQ(signals.signals[0].severity, Severity::kReset);
  EXPECT_EQ(signals.ignored, 1U);
  ASSERT_THAT(signals.rejected, SizeIs(1));
  EXPECT_EQ(signals.rejected[0].what, "label cluster: missing, but the policy sets `cluster`");
}

TEST_F(AlertsOfTwoClusters, AreNobodysWhileThePolicyNamesNoCluster) {
  const AlertSignals signals = taken_by("");

  ASSERT_THAT(signals.signals, SizeIs(1));
  EXPECT_EQ(signals.signals[0].severity, Severity::kIsolate);
  ASSERT_THAT(signals.rejected, SizeIs(2));
  EXPECT_THAT(signals.rejected[0].what, HasSubstr("set `cluster`"));
}

TEST(AlertSignals, IgnoreAlertsOfOtherClustersThatAskForNothing) {
  const AlertSignals signals = signals_of({{"alertname", "Watchdog"}, {"cluster", "west"}});

  EXPECT_THAT(signals.rejected, IsEmpty());
  EXPECT_EQ(signals.ignored, 1U);
}

}  // namespace
}  // namespace gpuward::remediator
