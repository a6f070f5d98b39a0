#include "remediator/policy/condition_rules.h"

#include <gmock/gmock.h>

#include "remediator/policy/policy.h"
#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

kube::Node node_saying(const std::string& status) {
  kube::Node node;
  node.meta.name = "gpu-01";
  node.meta.labels = {{"pool", "a100"}};
  kube::NodeCondition condition;
  condition.type = "GPUProblem";
  condition.status = status;
  condition.transition = std::chrono::system_clock::time_point(minutes(5));
  node.conditions = {condition};
  return node;
}

ConditionRule rule_for_gpus(Severity severity = Severity::kReset) {
  ConditionRule rule;
  rule.type = "GPUProblem";
  rule.severity = severity;
  return rule;
}

TEST(ConditionRules, AreReadWithTheirDefaults) {
  const auto policy = parse_policy(
      "conditions:\n"
      "  - {type: GPUProblem, severity: reset}\n"
      "  - {type: Ready, status: Unknown, reasons: [A, B], for: 10m, severity: reboot, labels: "
      "[pool=a100]}\n"
      "min_drain_interval: 3m\n");

  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  ASSERT_THAT(policy->conditions, SizeIs(2));
  EXPECT_EQ(policy->conditions[0].status, "True");
  EXPECT_EQ(policy->conditions[0].held_for, minutes(0));
  EXPECT_FALSE(policy->conditions[0].drains);
  EXPECT_EQ(policy->conditions[1].held_for, minutes(10));
  EXPECT_THAT(policy->conditions[1].reasons, SizeIs(2));
  EXPECT_EQ(policy->min_drain_interval, minutes(3));
}

TEST(ConditionRules, NameEveryFault) {
  const auto fault_of = [](const std::string& rule) {
    const auto policy = parse_policy("conditions: [" + rule + "]\n");
    return policy ? std::string() : policy.error().message;
  };

  EXPECT_THAT(fault_of("{severity: reset}"), HasSubstr("type"));
  EXPECT_THAT(fault_of("{type: A, severity: reset, status: Maybe}"), HasSubstr("True, False"));
  EXPECT_THAT(fault_of("{type: A, severity: bad}"), HasSubstr("isolate, reboot"));
  EXPECT_THAT(fault_of("{type: A, severity: reset, labels: [\"=x\"]}"), HasSubstr("key=value"));
  EXPECT_THAT(fault_of("{type: A, status: Unknown, severity: reset, drain: true}"),
              HasSubstr("does not justify a drain"));
}

TEST(ConditionRules, AreForTheNodesOfTheirLabels) {
  ConditionRule rule = rule_for_gpus();
  rule.labels = {"pool=a100"};
  EXPECT_THAT(seen_conditions({{rule}}, node_saying("True")), SizeIs(1));
  rule.labels = {"pool=h100"};
  EXPECT_THAT(seen_conditions({{rule}}, node_saying("True")), IsEmpty());
  rule.labels = {"team"};
  EXPECT_THAT(seen_conditions({{rule}}, node_saying("True")), IsEmpty());
  rule.labels = {"pool=a100", "team"};
  EXPECT_THAT(seen_conditions({{rule}}, node_saying("True")), IsEmpty()) << "all of them";
}

// A monitor that cannot reach its own helper writes the same condition (EKS' agent: DCGMError).
TEST(ConditionRules, AreForTheReasonsThatTheyName) {
  ConditionRule rule = rule_for_gpus();
  rule.reasons = {"NvidiaXID79", "NvidiaDoubleBitError"};
  kube::Node node = node_saying("True");
  node.conditions[0].reason = "DCGMError";
  EXPECT_THAT(seen_conditions({{rule}}, node), IsEmpty());
  ConditionRule next = rule_for_gpus(Severity::kMonitor);
  EXPECT_THAT(seen_conditions({{rule, next}}, node), SizeIs(1)) << "the next rule may be for it";
  node.conditions[0].reason = "NvidiaXID79";
  EXPECT_THAT(seen_conditions({{rule}}, node), SizeIs(1));
  node.conditions[0].status = "False";
  node.conditions[0].reason = "Healthy";
  EXPECT_THAT(seen_conditions({{rule, next}}, node), SizeIs(2)) << "which ends what either opened";
  EXPECT_NE(fingerprint_of(rule), fingerprint_of(next)) << "one must not drain for the other";
}

TEST(ConditionRules, CountIfOneOfTheirConditionsIsThere) {
  std::vector<ConditionRule> rules = {rule_for_gpus(), rule_for_gpus()};
  rules[0].type = "KernelDeadlock";

  const auto seen = seen_conditions(rules, node_saying("True"));

  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].rule.type, "GPUProblem");
}

TEST(ConditionRules, CountOnceForATypeAndStatusTheFirstThatFits) {
  const std::vector<ConditionRule> rules = {rule_for_gpus(Severity::kMonitor), rule_for_gpus()};

  const auto seen = seen_conditions(rules, node_saying("False"));

  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].rule.severity, Severity::kMonitor);
  EXPECT_EQ(seen[0].status, "False");
}

TEST(ConditionRules, PassOverWhatDoesNotSaySinceWhen) {
  kube::Node node = node_saying("True");
  node.conditions[0].transition.reset();

  EXPECT_THAT(seen_conditions({{rule_for_gpus()}}, node), IsEmpty());
}

}  // namespace
}  // namespace gpuward::remediator
