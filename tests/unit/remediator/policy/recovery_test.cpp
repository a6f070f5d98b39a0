#include <gmock/gmock.h>

#include "remediator/policy/policy.h"
#include "remediator/policy/policy_text.h"
#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kDrainedAndHeld =
    "mode: full\n"
    "jobs: {image: here/gpuward:1}\n"
    "severities:\n"
    "  isolate: [taint, cordon, drain]\n";
constexpr const char* kBack =
    "recovery:\n"
    "  isolate:\n"
    "    - wait: {approval: true}\n"
    "    - quarantine-job: {clears_latched: true}\n"
    "    - nccl-test: {min_bus_bandwidth: 387.5}\n"
    "    - verify: {soak: 3m}\n"
    "    - return-to-service\n";

TEST(RecoveryFile, IsReadWithTheSettingsOfItsSteps) {
  const auto policy = parse_policy(std::string(kDrainedAndHeld) + kBack);

  ASSERT_TRUE(policy) << policy.error().message;
  const auto& list = recovery_of(*policy, "", Severity::kIsolate);
  ASSERT_THAT(list, SizeIs(4));
  EXPECT_EQ(list[0].step, Step::kQuarantineJob);
  EXPECT_TRUE(list[0].before.approval);
  EXPECT_TRUE(list[0].job.clears_latched);
  EXPECT_EQ(list[1].step, Step::kNcclTest);
  EXPECT_FALSE(list[1].job.clears_latched);
  EXPECT_DOUBLE_EQ(list[1].job.min_bus_bandwidth, 387.5);
  EXPECT_EQ(list[2].soak, std::chrono::minutes(3));
  EXPECT_EQ(list[3].step, Step::kReturn);
  EXPECT_THAT(steps_for(*policy, Severity::kIsolate), SizeIs(3));
  EXPECT_THAT(recovery_of(*policy, "", Severity::kReset), IsEmpty());
}

// CONTRACTS E.
TEST(RecoveryFile, IsOffByDefaultAndASingleNodeNeeds400GigabytesASecond) {
  EXPECT_THAT(Policy{}.recovery, IsEmpty());
  EXPECT_DOUBLE_EQ(planned(Step::kNcclTest).job.min_bus_bandwidth, 400);
  EXPECT_FALSE(planned(Step::kNcclTest).job.clears_latched);
}

TEST(RecoveryFile, APoolMayHaveItsOwnOrNone) {
  const auto policy = parse_policy(std::string(kDrainedAndHeld) + kBack +
                                   "pools:\n"
                                   "  - name: kept\n"
                                   "    labels: [a]\n"
                                   "    recovery: {isolate: []}\n"
                                   "  - name: tested\n"
                                   "    labels: [b]\n"
                                   "    recovery:\n"
                                   "      isolate: [nccl-test, verify, return-to-service]\n");

  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_THAT(recovery_of(*policy, "kept", Severity::kIsolate), IsEmpty());
  const auto& own = recovery_of(*policy, "tested", Severity::kIsolate);
  ASSERT_THAT(own, SizeIs(3));
  EXPECT_EQ(own[0].step, Step::kNcclTest);
  EXPECT_EQ(own[0].pool, "tested");
}

TEST(RecoveryFile, WhatNobodyCouldEverGoIsRefused) {
  struct Row {
    const char* steps;
    const char* back;
    const char* says;
  };
  const Row rows[] = {
      {"[taint, cordon]", "[quarantine-job, verify, return-to-service]", "must drain the node"},
      {"[taint, cordon, drain, terminate]", "[quarantine-job, verify, return-to-service]",
       "terminate the machine"},
      {"[taint, cordon, drain, quarantine-job]", "[quarantine-job, verify, return-to-service]",
       "already include the same diagnostic"},
      {"[taint, cordon, drain]", "[verify, return-to-service]", "must begin with"},
      {"[taint, cordon, drain]", "[quarantine-job, verify]", "must end with return-to-service"},
      {"[taint, cordon, drain]", "[quarantine-job, return-to-service]", "needs verify"},
      {"[taint, cordon, drain]", "[drain, quarantine-job]", "names a step twice"},
      {"[taint, cordon, drain]", "[gpu-reset, verify, return-to-service]", "may contain only"},
      {"[taint, cordon, drain]", "[nccl-pairs, verify, return-to-service]", "must begin with"},
      {"[taint, cordon, drain]", "[nccl-pairs, nccl-test, verify, return-to-service]",
       "must be in the order"},
  };
  for (const Row& row : rows) {
    const auto policy = parse_policy(std::string("jobs: {image: a}\nseverities:\n  isolate: ") +
                                     row.steps + "\nrecovery:\n  isolate: " + row.back + "\n");
    ASSERT_FALSE(policy) << row.back;
    EXPECT_THAT(policy.error().message, HasSubstr(row.says));
    EXPECT_THAT(policy.error().message, HasSubstr("recovery.isolate"));
  }
}

// CONTRACTS E: pairs need 350 GB/s.
TEST(RecoveryFile, PairsOfNodesNeed350GigabytesASecond) {
  const auto policy = parse_policy(std::string(kDrainedAndHeld) +
                                   "recovery:\n  isolate:\n    - nccl-test\n    - nccl-pairs\n"
                                   "    - verify\n    - return-to-service\n");

  ASSERT_TRUE(policy) << policy.error().message;
  const PlannedStep& pairs = recovery_of(*policy, "", Severity::kIsolate)[1];
  EXPECT_EQ(pairs.step, Step::kNcclPairs);
  EXPECT_DOUBLE_EQ(pairs.job.min_bus_bandwidth, 350);
  EXPECT_EQ(pairs.timeout, std::chrono::minutes(40));
  EXPECT_EQ(pairs.job.together, std::chrono::minutes(10));
  EXPECT_EQ(policy->jobs.pair_port, 29400);
}

TEST(RecoveryFile, SaysWhereTheSettingsOfPairsAreWrong) {
  const auto policy = parse_policy(
      "jobs: {image: a, pair_port: 80}\n"
      "severities: {isolate: [taint, cordon, drain]}\n"
      "recovery:\n"
      "  isolate:\n"
      "    - nccl-test\n"
      "    - nccl-pairs: {min_bus_bandwidth: 0, together: 2d, command: [x]}\n"
      "    - verify\n"
      "    - return-to-service\n");

  ASSERT_FALSE(policy);
  for (const char* fault :
       {":1: jobs.pair_port: must be a whole number from 1024 to 65535",
        "nccl-pairs.min_bus_bandwidth: must be a number from 1 to",
        "nccl-pairs.together: must be a duration from 0s to 1d", "nccl-pairs.command: unknown key"})
    EXPECT_THAT(policy.error().message, HasSubstr(fault));
  EXPECT_THAT(policy.error().message, HasSubstr(":6: recovery.isolate"));
}

TEST(RecoveryFile, PairsStandInNoListOfASeverity) {
  const auto policy = parse_policy(
      "jobs: {image: a}\n"
      "severities:\n  isolate: [taint, cordon, drain, nccl-test, nccl-pairs]\n");

  ASSERT_FALSE(policy);
  EXPECT_THAT(policy.error().message,
              HasSubstr("severities.isolate: nccl-pairs is allowed only in recovery"));
}

TEST(RecoveryFile, ExplainsPairs) {
  const auto policy = parse_policy(std::string(kDrainedAndHeld) +
                                   "recovery: {isolate: [nccl-test, nccl-pairs: {together: 5m}, "
                                   "verify, return-to-service]}\n");

  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_THAT(severity_text(*policy, Severity::kIsolate),
              HasSubstr("  2. nccl-pairs: at most 40m, at least 350 GB/s, with nodes of the same "
                        "jobs or, if no job is known, with nodes that failed within 5m of each "
                        "other; on failure: hold for an operator\n"));
}

TEST(RecoveryFile, ItsJobsNeedAnImageAndItsWindowsANameToo) {
  const std::string steps = "severities: {isolate: [taint, cordon, drain]}\n";
  const auto imageless =
      parse_policy(steps + "recovery: {isolate: [nccl-test, verify, return-to-service]}\n");
  ASSERT_FALSE(imageless);
  EXPECT_THAT(imageless.error().message, HasSubstr("recovery.isolate has the step nccl-test"));
  const auto windowless = parse_policy(
      "jobs: {image: a}\n" + steps +
      "recovery:\n  isolate:\n    - wait: {window: nights}\n    - nccl-test\n    - verify\n"
      "    - return-to-service\n");
  ASSERT_FALSE(windowless);
  EXPECT_THAT(windowless.error().message, HasSubstr("nccl-test in recovery.isolate"));
}

TEST(RecoveryFile, IsExplainedBelowTheStepsOfItsSeverity) {
  const auto policy = parse_policy(std::string(kDrainedAndHeld) + kBack);

  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_THAT(
      severity_text(*policy, Severity::kIsolate),
      HasSubstr("  -- recovery, in mode full, instead of a hold for an operator --\n"
                "  1. quarantine-job: at most 5h, a pass also clears findings that "
                "otherwise only an operator can clear; on failure: hold for an operator\n"
                "       waits for an operator's approval\n"
                "  2. nccl-test: at most 1h, at least 387.5 GB/s; on failure: hold "
                "for an operator\n"
                "  3. verify: 3m of uninterrupted health, at most 45m; on failure: hold for "
                "an operator\n"
                "  4. return-to-service\n"));
}

}  // namespace
}  // namespace gpuward::remediator
