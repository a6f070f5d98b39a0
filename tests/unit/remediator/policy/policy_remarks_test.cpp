#include "remediator/policy/policy_remarks.h"

#include <gmock/gmock.h>

#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> remarks(const std::string& yaml) {
  const auto policy = parse_policy(yaml);
  EXPECT_TRUE(policy) << policy.error().message;
  return policy ? remarks_on(*policy) : std::vector<std::string>{};
}

TEST(PolicyRemarks, AreNoneOfTheDefaults) { EXPECT_THAT(remarks("mode: full\n"), IsEmpty()); }

TEST(PolicyRemarks, SayThatTheBreakerIsOff) {
  EXPECT_THAT(remarks("budgets: {breaker: {nodes: 5, percent: 100}}\n"),
              ElementsAre(HasSubstr("the circuit breaker never opens by itself")));
  EXPECT_THAT(remarks("budgets: {breaker: {nodes: 5, percent: 99}}\n"), IsEmpty());
}

TEST(PolicyRemarks, SayWhichBudgetsLeaveNothingToDo) {
  EXPECT_THAT(
      remarks("budgets:\n"
              "  cluster: {nodes: 0}\n"
              "  pool: {percent: 10}\n"
              "  zone: {nodes: 1, windows: [{window: 1h, nodes: 0}]}\n"
              "  labels: [{label: example.com/row, nodes: 0}]\n"
              "  taint: {nodes: 0}\n"
              "  cordon: {nodes: 0}\n"
              "  terminate: [{window: 1h, nodes: 0}]\n"
              "  min_healthy: {percent: 100}\n"
              "  breaker: {nodes: 0}\n"),
      ElementsAre("budgets.cluster allows no node: drain, gpu-reset, reboot or terminate "
                  "never begins there",
                  HasSubstr("budgets.pool allows no node if there are fewer than 10 nodes: "),
                  HasSubstr("budgets.zone.windows allows no node: "),
                  HasSubstr("budgets.labels example.com/row allows no node: "),
                  "budgets.taint allows no node: taint never begins there",
                  "budgets.cordon allows no node: cordon never begins there",
                  "budgets.terminate allows no node: terminate never begins there",
                  HasSubstr("budgets.min_healthy.percent is 100"),
                  HasSubstr("the first Remediation opens the circuit breaker")));
  EXPECT_THAT(remarks("budgets: {cluster: {nodes: 1}, pool: {percent: 100}}\n"), IsEmpty());
}

TEST(PolicyRemarks, SayThatNothingProvesASilentMachineDown) {
  const std::string reboot = "machines: {reboot: [/bin/reboot-it]}\n";
  EXPECT_THAT(remarks(reboot + "silent: {reboot: true}\n"),
              ElementsAre(HasSubstr("reboot or terminate for silent nodes")));
  EXPECT_THAT(remarks("silent: {out_of_service: true}\n"),
              ElementsAre(HasSubstr("reboot or terminate for silent nodes")));
  EXPECT_THAT(remarks("silent: {terminate: true}\n"
                      "machines: {aws: {terminate: true, cluster: prod}}\n"),
              IsEmpty());
  EXPECT_THAT(remarks("silent: {out_of_service: true}\nmachines: {power_state: [/bin/power]}\n"),
              IsEmpty());
  EXPECT_THAT(remarks(reboot + "silent: {after: 5m}\n"), IsEmpty());
}

TEST(PolicyRemarks, SayWhereWorseEvidenceDoesLess) {
  EXPECT_THAT(
      remarks("jobs: {image: here/gpuward:1}\n"),
      ElementsAre("severity reboot ends at cordon, but the milder severity reset includes drain: "
                  "a node with the more severe fault stays more in service"));
  EXPECT_THAT(
      remarks("severities: {isolate: [taint], reboot: [taint, cordon]}\n"),
      ElementsAre(HasSubstr(
          "severity isolate ends at taint, but the milder severity reboot includes cordon")));
  EXPECT_THAT(remarks("pools: [{name: a, labels: [a], severities: {isolate: [taint]}}]\n"),
              ElementsAre(HasSubstr("severity isolate of pool a ends at taint")));
  EXPECT_THAT(remarks("machines: {reboot: [/bin/x]}\n"
                      "severities: {isolate: [taint, cordon, drain]}\n"),
              IsEmpty());
}

TEST(PolicyRemarks, SayThatNoStepsDrainForACondition) {
  const std::string rule = "conditions: [{type: Sick, severity: reset, drain: true}]\n";
  EXPECT_THAT(remarks(rule),
              ElementsAre("conditions: Sick has drain: true, but the steps of severity reset have "
                          "no drain: the condition drains no node"));
  EXPECT_THAT(remarks("conditions: [{type: Sick, severity: reset}]\n"), IsEmpty());
  const std::string drained =
      "severities: {reset: [taint, cordon, drain], reboot: [taint, cordon, drain]}\n";
  EXPECT_THAT(remarks(rule + drained), IsEmpty());
}

TEST(PolicyRemarks, SayInWhichPoolsNoStepsDrainForACondition) {
  const std::string drains = "[taint, cordon, drain]";
  const std::string pools =
      "pools:\n"
      "  - {name: a, labels: [pool=a], severities: {reset: " +
      drains + ", reboot: " + drains +
      "}}\n"
      "  - {name: b, labels: [pool=b, big], severities: {reboot: " +
      drains + "}}\n";
  const auto with_labels = [&](const std::string& labels) {
    return remarks("conditions: [{type: Sick, severity: reset, drain: true, labels: [" + labels +
                   "]}]\n" + pools);
  };
  EXPECT_THAT(with_labels("pool=a"), IsEmpty());
  EXPECT_THAT(with_labels("pool=b, big=1"),
              ElementsAre(HasSubstr("the steps of severity reset of pool b have no drain: ")));
  EXPECT_THAT(with_labels("other"),
              ElementsAre(HasSubstr("the steps of severity reset of pool b have no drain: "),
                          HasSubstr("the steps of severity reset have no drain: ")));
}

TEST(PolicyRemarks, SayWhichBudgetsKeepTwoNodesFromBeingTestedTogether) {
  const std::string drained =
      "severities: {reboot: [taint, cordon, drain]}\njobs: {image: here/gpuward:1}\n";
  const std::string pairs =
      "recovery: {reboot: [nccl-test, nccl-pairs, verify, return-to-service]}";
  EXPECT_THAT(remarks(drained + pairs +
                      "\nbudgets:\n"
                      "  cluster: {nodes: 1, percent: 5}\n"
                      "  pool: {nodes: 2}\n"
                      "  zone: {nodes: 3, percent: 1}\n"
                      "  labels: [{label: example.com/row, nodes: 1}]\n"),
              ElementsAre(HasSubstr("budgets.cluster allows one node at a time if there are fewer "
                                    "than 40 nodes: nccl-pairs needs two nodes"),
                          HasSubstr("budgets.labels example.com/row allows one node at a time: ")));
  EXPECT_THAT(remarks(drained + "pools: [{name: a, labels: [a], " + pairs +
                      "}]\nbudgets: {cluster: {nodes: 4}, zone: {nodes: 4}, labels: []}\n"),
              ElementsAre(AllOf(HasSubstr("budgets.pool"), HasSubstr("fewer than 20"))));
}

}  // namespace
}  // namespace gpuward::remediator
