#include "remediator/policy/policy_text.h"

#include <gmock/gmock.h>

#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Policy policy_of(const std::string& yaml) {
  auto policy = parse_policy(yaml);
  EXPECT_TRUE(policy) << policy.error().message;
  return policy ? *policy : Policy{};
}

Policy whole_policy(const std::string& mode) {
  return policy_of("mode: " + mode +
                   "\n"
                   "severities:\n"
                   "  reboot:\n"
                   "    - taint\n"
                   "    - cordon\n"
                   "    - collect-evidence\n"
                   "    - wait: {approval: true, delay: 10m}\n"
                   "    - drain: {deadline: 90m, on_deadline: delete}\n"
                   "    - reboot\n"
                   "    - verify\n"
                   "    - return-to-service\n"
                   "jobs: {image: here/gpuward:1}\n"
                   "machines: {reboot: [/bin/power-cycle]}\n");
}

TEST(PolicyText, SaysEachStepWithItsLimitsAndWhatItWaitsFor) {
  EXPECT_EQ(
      severity_text(whole_policy("full"), Severity::kReboot),
      "severity reboot\n"
      "  1. taint\n"
      "  2. cordon\n"
      "  3. collect-evidence: at most 5m; a failure does not stop the steps\n"
      "  4. drain: all pods, deadline 90m, then delete the pods that are left\n"
      "       waits 10m after the previous step and for an operator's approval\n"
      "  5. reboot: at most 20m; on failure: escalate to isolate\n"
      "  6. verify: 10m of uninterrupted health, at most 45m; on failure: escalate to isolate\n"
      "  7. return-to-service\n");
}

TEST(PolicyText, NamesTheMeansThatASeverityLacks) {
  Policy policy;
  EXPECT_THAT(severity_text(policy, Severity::kReboot),
              HasSubstr("  2. cordon\n  no drain and no reboot: set machines.aws.reboot, "
                        "machines.reboot or machines.job.reboot\n"));
  policy.machines.restarts_by_job = true;
  EXPECT_THAT(guards_text(policy),
              HasSubstr("restarted by: a Job on the node, if the node is Ready\n"));
  EXPECT_THAT(severity_text(policy, Severity::kReset), HasSubstr("no gpu-reset: set jobs.image"));
  policy.jobs.image = "registry.example/gpuward";
  EXPECT_THAT(severity_text(policy, Severity::kReset), Not(HasSubstr("no gpu-reset")))
      << "the steps are the policy's own then";
  EXPECT_THAT(severity_text(whole_policy("full"), Severity::kReboot), Not(HasSubstr("no reboot")));
}

TEST(PolicyText, SaysWhereEvidenceGoes) {
  Policy policy = whole_policy("full");
  policy.jobs.evidence.upload = "s3://evidence/prod";
  EXPECT_THAT(severity_text(policy, Severity::kReboot),
              HasSubstr("  3. collect-evidence: at most 5m; uploads to s3://evidence/prod; a "
                        "failure does not stop the steps\n"));
}

TEST(PolicyText, SaysThatAReplacementIsWaitedFor) {
  const Policy policy = policy_of(
      "mode: full\nseverities:\n  isolate: [cordon, drain, terminate, verify: {timeout: 1h}]\n");

  EXPECT_THAT(severity_text(policy, Severity::kIsolate),
              HasSubstr("  4. verify: 10m of uninterrupted health, at most 1h; waits for a "
                        "replacement node; if none joins, "
                        "hold for an operator\n"));
}

TEST(PolicyText, SaysWhereTheModeEndsTheSteps) {
  EXPECT_THAT(severity_text(whole_policy("cordon"), Severity::kReboot),
              HasSubstr("  2. cordon\n  -- mode cordon ends here; the steps below are skipped "
                        "--\n  3. collect-evidence"));
  EXPECT_THAT(severity_text(whole_policy("observe"), Severity::kReboot),
              HasSubstr("severity reboot\n  -- mode observe ends here"));
  EXPECT_THAT(severity_text(whole_policy("full"), Severity::kReboot), Not(HasSubstr("mode")));
}

// An operator reads a plan before raising its mode.
TEST(PolicyText, SaysInEachModeWhatFollowsAFailureInModeFull) {
  for (const char* mode : {"observe", "taint", "cordon", "full"})
    EXPECT_THAT(severity_text(whole_policy(mode), Severity::kReboot),
                HasSubstr("reboot: at most 20m; on failure: escalate to isolate"))
        << mode;
}

TEST(PolicyText, SaysThatAFailureWithNothingWorseIsAHumansAffair) {
  const Policy policy = policy_of(
      "mode: full\n"
      "severities: {isolate: [cordon, drain, reboot]}\n"
      "machines: {reboot: [/bin/power-cycle]}\n");

  EXPECT_THAT(severity_text(policy, Severity::kIsolate),
              HasSubstr("on failure: hold for an operator"));
}

TEST(PolicyText, SaysThatNothingIsDoneAtASeverityWithoutSteps) {
  EXPECT_EQ(severity_text(Policy{}, Severity::kMonitor), "severity monitor\n  recorded only\n");
}

TEST(PolicyText, SaysWhatIsAskedBeforeHarm) {
  const std::string text = guards_text(
      policy_of("evidence: {max_age: 90s}\ncooldown: 1h\nstartup_grace: 3m\n"
                "budgets:\n"
                "  cluster: {nodes: 3, percent: 2.5, windows: [{window: 24h, nodes: 7}]}\n"
                "return_to_service: {enabled: true}\n"));

  EXPECT_THAT(text, HasSubstr("at most 90s old"));
  EXPECT_THAT(text, HasSubstr("cooldown: 1h after"));
  EXPECT_THAT(text, HasSubstr("the node at least 3m old"));
  EXPECT_THAT(text, HasSubstr("budget: cluster 3 or 2.5 % at once, 7 in 1d"));
  EXPECT_THAT(text, HasSubstr("nodes with the same nvidia.com/gpu.clique 1 at once"));
  EXPECT_THAT(text,
              HasSubstr("the node returns to service after a healthy report, at most 1m old"));
}

TEST(PolicyText, SaysWhoRestartsAndEndsMachines) {
  EXPECT_THAT(guards_text(Policy{}),
              HasSubstr("machines\n  restarted by: nothing\n  terminated by (first that applies): "
                        "the NodeClaim or Machine that owns the node\n"));
  EXPECT_THAT(
      guards_text(policy_of("machines:\n"
                            "  reboot: [/bin/power-cycle, --soft]\n"
                            "  aws: {reboot: true, terminate: true}\n")),
      HasSubstr("restarted by: EC2, /bin/power-cycle\n  terminated by (first that applies): the "
                "NodeClaim or Machine that owns the node, EC2 or its Auto Scaling "
                "group\n"));
}

}  // namespace
}  // namespace gpuward::remediator
