#include "remediator/policy/maintenance_rules.h"

#include <gmock/gmock.h>

#include "remediator/model/announced.h"
#include "remediator/policy/policy.h"
#include "remediator/policy/policy_text.h"
#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using enum AnnouncementKind;
using std::chrono::minutes;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr auto kPolicy =
    "mode: full\n"
    "maintenance:\n"
    "  reboot:\n"
    "    steps: [cordon, drain: {deadline: 20m}, verify: {soak: 1m}, return-to-service]\n"
    "  terminate: {steps: [cordon, drain], drain_takes: 2m}\n"
    "  rebalance: {}\n";

AlertEvidence announced(AnnouncementKind kind, bool firing = true) {
  AlertEvidence alert;
  alert.alertname = alertname_of(kind);
  alert.fingerprint = announcement_fingerprint({.id = "event-1", .kind = kind, .start = {}});
  alert.severity = kMaintenanceSeverity;
  if (!firing) alert.ended_at = WallTime(minutes(9));
  return alert;
}

Remediation about(std::vector<AlertEvidence> alerts) {
  Remediation remediation;
  remediation.severity = kMaintenanceSeverity;
  remediation.alerts = std::move(alerts);
  return remediation;
}

TEST(MaintenanceRules, OnlyRecordIfThePolicySaysNothing) {
  const auto policy = parse_policy("mode: full\n");
  ASSERT_TRUE(policy);
  EXPECT_THAT(policy->maintenance, SizeIs(3));
  for (const AnnouncementKind kind : {kReboot, kRedeploy, kTerminate})
    EXPECT_THAT(policy->maintenance.at(kind).steps, IsEmpty());
  EXPECT_FALSE(policy->maintenance.contains(kRebalance));
  EXPECT_FALSE(policy->maintenance.contains(kFreeze));
}

TEST(MaintenanceRules, AreReadByKindWithTheDrainsDeadlineAsItsTime) {
  const auto policy = parse_policy(kPolicy);
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_THAT(policy->maintenance.at(kReboot).steps, SizeIs(4));
  EXPECT_EQ(policy->maintenance.at(kReboot).drain_takes, minutes(20));
  EXPECT_EQ(policy->maintenance.at(kTerminate).drain_takes, minutes(2));
  EXPECT_THAT(policy->maintenance.at(kRedeploy).steps, IsEmpty());
  EXPECT_THAT(policy->maintenance.at(kRebalance).steps, IsEmpty());
}

TEST(MaintenanceRules, LeaveTheMachineToTheCloud) {
  const auto fault_of = [](const std::string& rule) {
    const auto policy = parse_policy(
        "machines: {reboot: [a]}\njobs: {image: i}\nmaintenance: {reboot: " + rule + "}\n");
    return policy ? std::string() : policy.error().message;
  };
  EXPECT_THAT(fault_of("{steps: [cordon, drain, reboot]}"),
              HasSubstr("gpuward does not reset, restart or terminate a machine"));
  EXPECT_THAT(fault_of("{steps: [cordon, drain, terminate]}"),
              HasSubstr("gpuward does not reset, restart or terminate a machine"));
  EXPECT_THAT(fault_of("{steps: [cordon, drain, gpu-reset]}"),
              HasSubstr("gpuward does not reset, restart or terminate a machine"));
  EXPECT_THAT(fault_of("{steps: [drain]}"), HasSubstr("needs cordon before it"));
  EXPECT_THAT(fault_of("{steps: [cordon], drain_takes: 5m}"), HasSubstr("no effect"));
  EXPECT_THAT(fault_of("{steps: [cordon, wait: {window: nights}, drain]}"),
              HasSubstr("waits for a window"));
  EXPECT_THAT(parse_policy("maintenance: {explosion: {}}\n").error().message,
              HasSubstr("explosion"));
}

TEST(PolicyAboutARemediation, HasTheStepsOfWhatIsAnnouncedAndReturnsTheNode) {
  const auto policy = std::make_shared<const Policy>(*parse_policy(kPolicy));
  const Remediation remediation = about({announced(kReboot)});
  const auto own = policy_about(policy, remediation);
  EXPECT_EQ(own->announced, kReboot);
  EXPECT_THAT(steps_for(*own, kMaintenanceSeverity), SizeIs(4));
  EXPECT_TRUE(own->return_to_service.enabled);
  EXPECT_TRUE(is_maintenance(*own, remediation));
  EXPECT_FALSE(worse_with_steps(*own, kMaintenanceSeverity));
}

TEST(PolicyAboutARemediation, IsThatOfTheWorstAnnouncementWithSteps) {
  const auto policy = std::make_shared<const Policy>(*parse_policy(kPolicy));
  EXPECT_EQ(policy_about(policy, about({announced(kReboot), announced(kTerminate)}))->announced,
            kTerminate);
  EXPECT_EQ(policy_about(policy, about({announced(kReboot), announced(kRedeploy)}))->announced,
            kReboot);
}

// Otherwise a cancelled maintenance would begin one.
TEST(PolicyAboutARemediation, KnowsWhatIsOverOnlyOnceAStepWasTaken) {
  const auto policy = std::make_shared<const Policy>(*parse_policy(kPolicy));
  Remediation remediation = about({announced(kReboot, false)});
  EXPECT_EQ(policy_about(policy, remediation), policy);
  remediation.status.steps.emplace_back();
  EXPECT_EQ(policy_about(policy, remediation)->announced, kReboot);
}

TEST(PolicyAboutARemediation, IsTheSameIfNothingIsAnnounced) {
  const auto policy = std::make_shared<const Policy>(*parse_policy(kPolicy));
  AlertEvidence forged = announced(kReboot);
  forged.fingerprint = "0123456789abcdef";  // an Alertmanager gives such fingerprints
  EXPECT_EQ(policy_about(policy, about({forged})), policy);
  EXPECT_EQ(policy_about(policy, about({announced(kRebalance)})), policy);
}

TEST(PolicyAboutARemediation, LeavesWhatIsWorseToItsOwnSteps) {
  const auto policy = std::make_shared<const Policy>(*parse_policy(kPolicy));
  Remediation remediation = about({announced(kReboot)});
  AlertEvidence fault;
  fault.severity = remediation.severity = Severity::kReset;
  remediation.alerts.push_back(fault);
  const auto own = policy_about(policy, remediation);
  EXPECT_FALSE(is_maintenance(*own, remediation));
  EXPECT_EQ(steps_for(*own, Severity::kReset).size(), steps_for(*policy, Severity::kReset).size());
}

TEST(MaintenanceText, SaysWhatIsDoneWhen) {
  const std::string text = maintenance_text(*parse_policy(kPolicy));
  EXPECT_THAT(text, HasSubstr(" reboot\n  1. cordon\n  2. drain: all pods, deadline 20m"));
  EXPECT_THAT(text, HasSubstr("the drain begins 20m before the maintenance begins"));
  EXPECT_THAT(text, HasSubstr("verify: 1m of uninterrupted health, at most 45m; on failure: hold"));
  EXPECT_THAT(text, HasSubstr(" redeploy\n  recorded; sinks are notified\n"));
  EXPECT_THAT(text, Not(HasSubstr("freeze")));
}

}  // namespace
}  // namespace gpuward::remediator
