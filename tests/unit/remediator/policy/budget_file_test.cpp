#include <gmock/gmock.h>

#include "remediator/policy/policy_sections.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<BudgetLimits> budgets_of(const std::string& text) {
  const auto file = YamlFile::parse("budgets:" + text, "policy.yaml");
  if (!file) return std::unexpected(file.error());
  BudgetLimits limits = read_budgets(file->root().map("budgets"));
  if (auto status = file->finish(); !status) return std::unexpected(status.error());
  return limits;
}

std::string fault_of(const std::string& text) {
  const auto limits = budgets_of(text);
  return limits ? "" : limits.error().message;
}

TEST(BudgetFile, KeepsTheDefaultsOfWhatIsAbsent) {
  EXPECT_EQ(budgets_of("").value(), BudgetLimits());
  EXPECT_EQ(budgets_of(" {cluster: {}, storm: {}, breaker: {}}").value(), BudgetLimits());
}

TEST(BudgetFile, IsTheDefaultsIfAllOfThemAreWritten) {
  const auto limits = budgets_of(R"(
    cluster: {nodes: 1, percent: 5}
    pool: {nodes: 1, percent: 10}
    zone: {nodes: 1, percent: 10}
    labels:
      - {label: topology.kubernetes.io/rack, nodes: 1}
      - {label: nvidia.com/gpu.clique, nodes: 1}
    cordon: {nodes: 1, percent: 10}
    terminate:
      - {window: 1h, nodes: 2}
      - {window: 24h, nodes: 5}
    min_healthy: {nodes: 0, percent: 0}
    storm: {nodes: 3, percent: 10, window: 10m}
    breaker: {nodes: 5, percent: 10, window: 10m}
    orphan_hold: 24h
    pool_labels: [karpenter.sh/nodepool, eks.amazonaws.com/nodegroup,
                  cloud.google.com/gke-nodepool, kubernetes.azure.com/agentpool,
                  node.kubernetes.io/instance-type]
    zone_label: topology.kubernetes.io/zone
)");
  ASSERT_TRUE(limits) << limits.error().message;
  EXPECT_EQ(*limits, BudgetLimits());
}

TEST(BudgetFile, ReadsEveryLimit) {
  const auto limits = budgets_of(R"(
    cluster: {nodes: 2, percent: 6.5, windows: [{window: 7d, percent: 20}]}
    pool: {nodes: 3}
    zone: {percent: 4}
    labels: [{label: rack, nodes: 2, windows: [{window: 1h, nodes: 9}]}]
    cordon: {nodes: 5, percent: 50}
    terminate: [{window: 2h, nodes: 7}]
    min_healthy: {nodes: 8, percent: 60}
    storm: {nodes: 9, percent: 11, window: 5m}
    breaker: {nodes: 10, percent: 12, window: 6m}
    orphan_hold: 3h
    pool_labels: [team]
    zone_label: room
)");
  ASSERT_TRUE(limits) << limits.error().message;
  EXPECT_EQ(limits->cluster.at_once, (Share{2, 6.5}));
  EXPECT_THAT(limits->cluster.windows, ElementsAre(WindowLimit{{0, 20}, hours(168)}));
  EXPECT_EQ(limits->pool.at_once, (Share{3, 0}));
  EXPECT_EQ(limits->zone.at_once, (Share{0, 4}));
  EXPECT_THAT(limits->labels,
              ElementsAre(LabelLimit{"rack", {{2, 0}, {WindowLimit{{9, 0}, hours(1)}}}}));
  EXPECT_EQ(limits->cordoned, (Share{5, 50}));
  EXPECT_THAT(limits->terminations, ElementsAre(WindowLimit{{7, 0}, hours(2)}));
  EXPECT_EQ(limits->min_healthy, (Share{8, 60}));
  EXPECT_EQ(limits->storm, (WindowLimit{{9, 11}, minutes(5)}));
  EXPECT_EQ(limits->breaker, (WindowLimit{{10, 12}, minutes(6)}));
  EXPECT_EQ(limits->orphan_hold, hours(3));
  EXPECT_THAT(limits->keys.pool, ElementsAre("team"));
  EXPECT_EQ(limits->keys.zone, "room");
}

TEST(BudgetFile, TakesAnEmptyListOfLabelsForNone) {
  EXPECT_THAT(budgets_of(" {labels: []}").value().labels, IsEmpty());
}

TEST(BudgetFile, NamesLineAndFieldOfEveryFault) {
  EXPECT_THAT(fault_of("\n  cluster: {nodes: -1}\n  pool: {percent: 101}"),
              AllOf(HasSubstr("policy.yaml:2: budgets.cluster.nodes"),
                    HasSubstr("policy.yaml:3: budgets.pool.percent")));
  EXPECT_THAT(fault_of("\n  clutser: {nodes: 1}"), HasSubstr("policy.yaml:2: budgets.clutser"));
  EXPECT_THAT(fault_of("\n  min_healthy: {percent: half}"),
              HasSubstr("policy.yaml:2: budgets.min_healthy.percent"));
}

TEST(BudgetFile, RefusesWindowsThatSayTooLittleOrAreTooLong) {
  EXPECT_THAT(fault_of("\n  terminate: []"), HasSubstr("needs at least one window"));
  EXPECT_THAT(fault_of("\n  terminate: [{nodes: 2}]"),
              HasSubstr("budgets.terminate[0].window: is required"));
  EXPECT_THAT(fault_of("\n  terminate: [{window: 1h}]"), HasSubstr("needs nodes or percent"));
  EXPECT_THAT(fault_of("\n  terminate: [{window: 8d, nodes: 1}]"), HasSubstr("window"));
  EXPECT_THAT(fault_of("\n  pool: {windows: [{window: 0s, nodes: 1}]}"), HasSubstr("window"));
}

TEST(BudgetFile, RefusesLabelsThatSayTooLittleOrStandTwice) {
  EXPECT_THAT(fault_of("\n  labels: [{nodes: 1}]"), HasSubstr("label"));
  EXPECT_THAT(fault_of("\n  labels: [{label: rack}]"), HasSubstr("needs nodes or percent"));
  EXPECT_THAT(fault_of("\n  labels: [{label: a, nodes: 1}, {label: a, nodes: 2}]"),
              HasSubstr("has two entries: keep one"));
  EXPECT_THAT(fault_of("\n  pool_labels: ['']"), HasSubstr("the name of a label"));
}

TEST(BudgetFile, RefusesAStormOfOneNode) {
  EXPECT_THAT(fault_of("\n  storm: {nodes: 1}"), HasSubstr("storm.nodes: must be at least 2"));
  EXPECT_THAT(fault_of("\n  storm: {percent: 30}"), HasSubstr("storm.nodes: must be at least 2"));
}

}  // namespace
}  // namespace gpuward::remediator
