#include "remediator/policy/silent_rules.h"

#include <gmock/gmock.h>

#include "remediator/model/silent_alerts.h"
#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kReboots = "machines: {reboot: [/bin/power-cycle]}\n";

std::shared_ptr<const Policy> policy_of(const std::string& yaml) {
  auto policy = parse_policy("mode: full\n" + yaml);
  EXPECT_TRUE(policy) << policy.error().message;
  return std::make_shared<const Policy>(policy ? *std::move(policy) : Policy());
}

Remediation remediation_with(const std::vector<std::string>& fingerprints) {
  Remediation remediation;
  for (const std::string& fingerprint : fingerprints) {
    AlertEvidence& alert = remediation.alerts.emplace_back();
    alert.fingerprint = fingerprint;
    alert.severity = kSilentSeverity;
  }
  return remediation;
}

std::vector<Step> steps_of(const Policy& policy, Severity severity) {
  std::vector<Step> steps;
  for (const PlannedStep& step : steps_for(policy, severity)) steps.push_back(step.step);
  return steps;
}

std::vector<Step> silent_steps(const std::string& yaml, Severity severity = kSilentSeverity) {
  return steps_of(*policy_for_silence(policy_of(yaml), remediation_with({kSilentFingerprint})),
                  severity);
}

TEST(SilentRules, AreOffWithoutTheSection) {
  EXPECT_FALSE(policy_of("")->silent.is_on);
  EXPECT_TRUE(policy_of("silent: {after: 7m}\n")->silent.is_on);
  EXPECT_TRUE(policy_of("silent:\n")->silent.is_on);
}

TEST(SilentRules, EndAtTheCordonUnlessTheySayMore) {
  EXPECT_THAT(silent_steps(kReboots + "silent:\n"),
              ElementsAre(Step::kTaint, Step::kCordon, Step::kNotify));
}

TEST(SilentRules, RestartThenEndTheMachineAfterAnApproval) {
  const std::string yaml = kReboots + "silent: {reboot: true, terminate: true}\n";
  EXPECT_THAT(silent_steps(yaml), ElementsAre(Step::kTaint, Step::kCordon, Step::kNotify,
                                              Step::kReboot, Step::kVerify, Step::kReturn));
  EXPECT_THAT(silent_steps(yaml, Severity::kIsolate),
              ElementsAre(Step::kTaint, Step::kCordon, Step::kNotify, Step::kTerminate));
  const auto policy = policy_for_silence(policy_of(yaml), remediation_with({kSilentFingerprint}));
  EXPECT_TRUE(policy->steps.at(Severity::kIsolate).back().before.approval);
  const std::string moves = kReboots + "silent: {out_of_service: true, reboot: true}\n";
  EXPECT_THAT(silent_steps(moves),
              ElementsAre(Step::kTaint, Step::kCordon, Step::kNotify, Step::kOutOfService,
                          Step::kReboot, Step::kVerify, Step::kReturn));
  EXPECT_TRUE(needs_approvals(*policy_of("silent: {terminate: true}\n")));
}

TEST(SilentRules, LeaveThePlanOfWhateverElseFires) {
  const auto policy = policy_of(kReboots + "silent: {reboot: true}\n");
  const auto plan = steps_of(*policy, Severity::kReboot);
  EXPECT_EQ(steps_of(*policy_for_silence(policy, remediation_with({"ab"})), Severity::kReboot),
            plan);
  auto back = remediation_with({"ab", kSilentFingerprint});
  back.alerts[1].ended_at = WallTime();
  EXPECT_EQ(steps_of(*policy_for_silence(policy, back), Severity::kReboot), plan);
}

TEST(SilentRules, OfAPoolAreThoseOfAllNodes) {
  const auto policy = policy_of(kReboots +
                                "silent:\n"
                                "pools:\n  - name: a\n    labels: [pool=a]\n    severities:\n"
                                "      reboot: [taint, cordon, drain, reboot]\n");
  const auto own = policy_for_silence(policy_for(policy, {{"pool", "a"}}),
                                      remediation_with({kSilentFingerprint}));
  EXPECT_THAT(steps_of(*own, Severity::kReboot),
              ElementsAre(Step::kTaint, Step::kCordon, Step::kNotify));
}

// The node was never known to be broken.
TEST(SilentRules, ReturnANodeThatWasOnlySilent) {
  const auto policy = policy_of("silent:\n");
  EXPECT_TRUE(policy_for_silence(policy, remediation_with({kSilentFingerprint}))
                  ->return_to_service.enabled);
  EXPECT_FALSE(policy_for_silence(policy, remediation_with({kSilentFingerprint, "ab"}))
                   ->return_to_service.enabled);
}

TEST(SilentRules, ARestartNeedsAWay) {
  const auto policy = parse_policy("silent: {reboot: true}\n");
  ASSERT_FALSE(policy);
  EXPECT_THAT(policy.error().message, HasSubstr("silent.reboot is on"));
}

// A drain of a node that is not silent ends its pods.
TEST(SilentRules, HaveTheStepOutOfServiceAlone) {
  const auto policy = parse_policy("severities: {reboot: [taint, cordon, out-of-service]}\n");
  ASSERT_FALSE(policy);
  EXPECT_THAT(policy.error().message, HasSubstr("each step must be one of taint"));
}

}  // namespace
}  // namespace gpuward::remediator
