#include <gmock/gmock.h>

#include "remediator/policy/policy.h"
#include "remediator/policy/policy_text.h"
#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kPools =
    "mode: full\n"
    "severities:\n"
    "  reboot:\n"
    "    - cordon\n"
    "    - drain: {deadline: 10m}\n"
    "    - reboot\n"
    "  isolate:\n"
    "    - cordon\n"
    "    - drain\n"
    "machines: {reboot: [/bin/power-cycle]}\n"
    "pools:\n"
    "  - name: research\n"
    "    labels: [team=research, pool]\n"
    "    mode: cordon\n"
    "  - name: a100\n"
    "    labels: [pool=a100]\n"
    "    drain: {deadline: 4h}\n"
    "    severities:\n"
    "      reset: [cordon, drain]\n";

std::shared_ptr<const Policy> for_labels(const kube::Labels& labels) {
  auto policy = parse_policy(kPools);
  EXPECT_TRUE(policy) << policy.error().message;
  return policy_for(std::make_shared<const Policy>(policy ? *policy : Policy{}), labels);
}

TEST(Pools, LeaveAloneWhatBelongsToNone) {
  const auto policy = for_labels({{"pool", "h100"}});

  EXPECT_EQ(policy->pool, "");
  EXPECT_EQ(policy->mode, Mode::kFull);
  EXPECT_THAT(steps_for(*policy, Severity::kReset), SizeIs(2));
}

TEST(Pools, CountIfANodeHasAllTheirLabelsAndTheFirstWins) {
  EXPECT_EQ(for_labels({{"team", "research"}})->pool, "");
  EXPECT_EQ(for_labels({{"team", "research"}, {"pool", "a100"}})->pool, "research");
  EXPECT_EQ(for_labels({{"team", "serving"}, {"pool", "a100"}})->pool, "a100");
}

TEST(Pools, HaveAModeOfTheirOwnThatIsNeverAboveThePolicys) {
  const auto policy = for_labels({{"team", "research"}, {"pool", "h100"}});
  EXPECT_EQ(policy->mode, Mode::kCordon);
  EXPECT_THAT(steps_for(*policy, Severity::kReboot), SizeIs(1));

  auto lowered = *parse_policy(kPools);
  lowered.mode = Mode::kTaint;  // --mode does this
  EXPECT_EQ(
      policy_for(std::make_shared<const Policy>(lowered), {{"team", "research"}, {"pool", "h100"}})
          ->mode,
      Mode::kTaint);
}

TEST(Pools, HaveBudgetsOfTheirOwnAndTheRestAsAllPools) {
  const auto policy = parse_policy(
      "budgets: {pool: {nodes: 1, percent: 20}, cordon: {nodes: 4}}\n"
      "pools:\n"
      "  - name: research\n"
      "    labels: [team=research]\n"
      "  - name: a100\n"
      "    labels: [pool=a100]\n"
      "    budgets:\n"
      "      pool: {nodes: 2, windows: [{window: 1h, nodes: 3}]}\n"
      "      min_healthy: {percent: 70}\n");
  ASSERT_TRUE(policy) << policy.error().message;

  const PoolLimits own = policy->budgets.in_pool("a100");
  EXPECT_EQ(own.disrupted, (ScopeLimit{{2, 0}, {{{3, 0}, hours(1)}}}));
  EXPECT_EQ(own.min_healthy, (Share{0, 70}));
  EXPECT_EQ(own.cordoned, (Share{4, 0}));
  EXPECT_EQ(policy->budgets.in_pool("research").disrupted.at_once, (Share{1, 20}));
  const PlaceKeys keys = place_keys(policy->budgets);
  EXPECT_EQ(place_of({{"pool", "a100"}, {"karpenter.sh/nodepool", "k"}}, keys).pool, "a100");
  EXPECT_EQ(place_of({{"team", "research"}, {"karpenter.sh/nodepool", "k"}}, keys).pool, "k");
  EXPECT_THAT(guards_text(*policy),
              HasSubstr("budget: nodes of pool a100 of the policy 2 at once, 3 in 1h\n"));
}

TEST(Pools, HaveNoBudgetsOfTheClusterOrOfTaints) {
  for (const char* key : {"cluster", "zone", "taint", "storm"}) {
    const auto policy = parse_policy("pools:\n  - name: a\n    labels: [b]\n    budgets: {" +
                                     std::string(key) + ": {nodes: 2}}\n");
    ASSERT_FALSE(policy) << key;
    EXPECT_THAT(policy.error().message, HasSubstr("pools[0].budgets." + std::string(key)));
  }
}

TEST(Pools, DrainByTheirOwnDefaultsIfTheStepDoesNotSayOtherwise) {
  const auto policy = for_labels({{"pool", "a100"}});

  EXPECT_EQ(steps_for(*policy, Severity::kIsolate)[1].drain.deadline, hours(4));
  EXPECT_EQ(steps_for(*policy, Severity::kReboot)[1].drain.deadline, minutes(10));
  EXPECT_EQ(steps_for(*policy, Severity::kReset)[1].drain.deadline, hours(4));
  EXPECT_EQ(steps_for(*policy, Severity::kReset)[1].pool, "a100");
}

TEST(Pools, AreExplainedAsTheyAre) {
  EXPECT_THAT(severity_text(*for_labels({{"pool", "a100"}}), Severity::kReset),
              HasSubstr("2. drain: all pods, deadline 4h"));
}

TEST(Pools, AreRefusedWithTheirLineIfTheyCannotBeMeant) {
  struct Row {
    const char* pool;
    const char* says;
  };
  const Row rows[] = {
      {"  - labels: [a]\n", "policy.yaml:3: pools[0].name"},
      {"  - name: a\n", "policy.yaml:3: pools[0].labels: must list the labels"},
      {"  - {name: a, labels: [\"=x\"]}\n", "labels"},
      {"  - {name: a, labels: [a]}\n  - {name: a, labels: [b]}\n", "policy.yaml:4: pools[1].name"},
      {"  - {name: a, labels: [a], mode: full}\n", "is above the policy's own"},
      {"  - {name: a, labels: [a], mode: some}\n", "one of observe"},
      {"  - {name: a, labels: [a], retries: 3}\n", "retries"},
      {"  - {name: a, labels: [a], severities: {reset: [evict]}}\n", "must be one of taint"},
      {"  - {name: a, labels: [a], severities: {isolate: []}}\n",
       "pools[0].severities.isolate: has no steps"},
      {"  - {name: a, labels: [a], severities: {reset: [cordon, drain, reboot]}}\n",
       "severities.reset of pool a has the step reboot"},
      {"  - {name: a, labels: [a], severities: {reset: [cordon, collect-evidence]}}\n",
       "severities.reset of pool a has the step collect-evidence"},
  };
  EXPECT_FALSE(parse_policy("pools: [{labels: [a], name: " + std::string(64, 'n') + "}]\n"));
  for (const Row& row : rows) {
    const auto policy = parse_policy("mode: cordon\npools:\n" + std::string(row.pool));
    ASSERT_FALSE(policy) << row.pool;
    EXPECT_THAT(policy.error().message, HasSubstr(row.says)) << row.pool;
  }
}

TEST(Pools, MayHaveAnyModeIfTheFileLeavesItToTheCommandLine) {
  auto policy = parse_policy("pools: [{name: a, labels: [a], mode: cordon}]\n");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy_for(std::make_shared<const Policy>(*policy), {{"a", ""}})->mode, Mode::kObserve);

  policy->mode = Mode::kFull;  // --mode does this
  EXPECT_EQ(policy_for(std::make_shared<const Policy>(*policy), {{"a", ""}})->mode, Mode::kCordon);
}

TEST(Pools, DoNotRepeatTheFaultsOfThePlansThatTheyShare) {
  const auto policy = parse_policy(
      "severities:\n  isolate:\n    - cordon\n    - drain: {deadlin: 1h, on_deadline: x}\n"
      "pools:\n  - {name: a, labels: [a], drain: {deadline: 1h}}\n");

  ASSERT_FALSE(policy);
  const std::string& said = policy.error().message;
  EXPECT_EQ(said.find("on_deadline: must"), said.rfind("on_deadline: must")) << said;
  EXPECT_THAT(said, HasSubstr("on_deadline: must"));
}

}  // namespace
}  // namespace gpuward::remediator
