#include "remediator/model/fleet.h"

#include <gmock/gmock.h>

#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

kube::Labels labels_of_a_node() {
  return {{"karpenter.sh/nodepool", "gpu"},
          {"eks.amazonaws.com/nodegroup", "old"},
          {"node.kubernetes.io/instance-type", "p5.48xlarge"},
          {"topology.kubernetes.io/zone", "eu-1a"},
          {"topology.kubernetes.io/rack", "r7"}};
}

TEST(Place, TakesThePoolOfTheFirstLabelThereIs) {
  const PlaceKeys keys = place_keys(BudgetLimits());
  kube::Labels labels = labels_of_a_node();
  EXPECT_EQ(place_of(labels, keys).pool, "gpu");
  labels.erase("karpenter.sh/nodepool");
  EXPECT_EQ(place_of(labels, keys).pool, "old");
  labels.erase("eks.amazonaws.com/nodegroup");
  EXPECT_EQ(place_of(labels, keys).pool, "p5.48xlarge");
  labels.erase("node.kubernetes.io/instance-type");
  EXPECT_EQ(place_of(labels, keys).pool, "");
}

TEST(Place, KnowsThePoolsOfTheOtherClouds) {
  const PlaceKeys keys;
  EXPECT_EQ(place_of({{"cloud.google.com/gke-nodepool", "g"}}, keys).pool, "g");
  EXPECT_EQ(place_of({{"kubernetes.azure.com/agentpool", "a"}}, keys).pool, "a");
}

TEST(Place, KnowsZoneAndTheLimitedLabelsOnly) {
  const Place place = place_of(labels_of_a_node(), place_keys(BudgetLimits()));
  EXPECT_EQ(place.zone, "eu-1a");
  EXPECT_THAT(place.domains, ElementsAre(Pair("topology.kubernetes.io/rack", "r7")));
  EXPECT_THAT(place_of(labels_of_a_node(), PlaceKeys()).domains, IsEmpty());
}

// Nodes whose GPUs are in no NVLink domain have nothing in common.
TEST(Place, IsInNoCliqueIfTheDriverSaysThatThereIsNone) {
  const PlaceKeys keys = place_keys(BudgetLimits());
  const std::string none = "00000000-0000-0000-0000-000000000000.0";
  EXPECT_THAT(place_of({{"nvidia.com/gpu.clique", none}}, keys).domains, IsEmpty());
  EXPECT_THAT(
      place_of({{"nvidia.com/gpu.clique", "7b968a6d-c8aa-45e1-9e07-e1e51be99c31.0"}}, keys).domains,
      ElementsAre(Pair("nvidia.com/gpu.clique", "7b968a6d-c8aa-45e1-9e07-e1e51be99c31.0")));
}

TEST(Place, IsAPoolOfThePolicyIfThatHasBudgetsOfItsOwn) {
  BudgetLimits limits;
  limits.own_pools = {{{"plain", {"kind=plain"}}, std::nullopt},
                      {{"own", {"team", "gpu=a100"}}, PoolLimits{}}};
  const PlaceKeys keys = place_keys(limits);
  kube::Labels labels = {{"team", "x"}, {"gpu", "a100"}, {"karpenter.sh/nodepool", "k"}};
  EXPECT_EQ(place_of(labels, keys).pool, "own");
  labels["kind"] = "plain";
  EXPECT_EQ(place_of(labels, keys).pool, "k") << "it belongs to the first, which has none";
  EXPECT_EQ(place_of({{"team", "x"}, {"karpenter.sh/nodepool", "k"}}, keys).pool, "k");
}

TEST(FleetNode, IsHealthyIfItIsReadySchedulableAndWithoutASevereFault) {
  kube::Node node;
  node.conditions = {{"MemoryPressure", "True", "", ""}, {"Ready", "True", "", ""}};
  FleetNode well = fleet_node(node, {});
  EXPECT_TRUE(well.healthy());
  well.severity = Severity::kMonitor;
  EXPECT_TRUE(well.healthy());
  well.severity = Severity::kReset;
  EXPECT_FALSE(well.healthy());
}

TEST(FleetNode, IsNotHealthyIfItIsCordonedOrNotReady) {
  kube::Node cordoned;
  cordoned.conditions = {{"Ready", "True", "", ""}};
  cordoned.unschedulable = true;
  EXPECT_FALSE(fleet_node(cordoned, {}).healthy());
  kube::Node unknown;
  unknown.conditions = {{"Ready", "Unknown", "", ""}};
  EXPECT_FALSE(fleet_node(unknown, {}).healthy());
  EXPECT_FALSE(fleet_node(kube::Node(), {}).healthy());
}

TEST(GpuNode, IsOneOnWhichAnExporterSaysHowItIs) {
  const auto is_one = [](const char* label, const char* value) {
    kube::Node node;
    node.meta.labels = {{label, value}};
    return is_gpu_node(node);
  };
  EXPECT_TRUE(is_one("gpuward.dev/status", "pass"));
  EXPECT_TRUE(is_one("gpu-healthcheck.aws-samples.io/mode", "quarantine"));
  EXPECT_FALSE(is_one("gpuward.dev/managed", "true")) << "an operator's, on nodes of all kinds";
  EXPECT_FALSE(is_one("gpuward.dev/drill", "allowed")) << "the same";
}

}  // namespace
}  // namespace gpuward::remediator
