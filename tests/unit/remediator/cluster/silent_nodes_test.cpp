#include "remediator/cluster/silent_nodes.h"

#include <gmock/gmock.h>

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

const WallTime kSilentTime{hours(1'000'000)};

NodeSign a_node(int number, std::optional<minutes> silent_for = {}) {
  NodeSign node;
  node.node = "gpu-" + std::to_string(number);
  node.place = {.pool = "a", .zone = "zone-" + std::to_string(number % 2), .domains = {}};
  node.ready = silent_for ? "Unknown" : "True";
  node.since = kSilentTime - silent_for.value_or(hours(100));
  node.created = kSilentTime - hours(200);
  return node;
}

std::vector<NodeSign> a_fleet(int size) {
  std::vector<NodeSign> nodes;
  for (int i = 0; i < size; ++i) nodes.push_back(a_node(i));
  return nodes;
}

// Why gpuward begins nothing for the first node; "" if there is no objection.
std::string objection_in(const std::vector<NodeSign>& nodes, Share at_most = {1, 10}) {
  SilentRules rules;
  rules.at_most = at_most;
  const auto why = SilentNodes(nodes, rules, minutes(10), kSilentTime).objection(nodes.front());
  return why ? std::string(why->rule) + ": " + why->message : "";
}

TEST(SilentNodes, OneOfThreeIsNoThird) {
  auto nodes = a_fleet(3);
  nodes[0] = a_node(0, minutes(6));
  EXPECT_EQ(objection_in(nodes), "");
}

TEST(SilentNodes, MoreThanTheLimitLookLikeAPartition) {
  auto nodes = a_fleet(30);
  for (int i = 0; i < 3; ++i) nodes[static_cast<std::size_t>(i)] = a_node(i, minutes(6 + 5 * i));
  EXPECT_THAT(objection_in(nodes), HasSubstr("silent.share: 2 of 15 GPU nodes of zone zone-0"));
  EXPECT_EQ(objection_in(nodes, {3, 0}), "");
  nodes[3] = a_node(3, minutes(40));
  EXPECT_THAT(objection_in(nodes, {3, 0}),
              HasSubstr("silent.share: 4 of 30 GPU nodes of the fleet"));
}

// gpuward begins nothing until an operator has had a day to see that two of them are dead.
TEST(SilentNodes, ThreeOfFourDeadAreAPartitionUntilTwoAreKnownToBeDead) {
  auto nodes = a_fleet(4);
  for (int i = 0; i < 3; ++i) nodes[static_cast<std::size_t>(i)] = a_node(i, minutes(6 + 60 * i));
  EXPECT_THAT(objection_in(nodes), HasSubstr("silent.share: 3 of 4 GPU nodes of the fleet"));
  for (const std::size_t i : {1U, 2U}) {
    nodes[i].is_recorded = true;
    nodes[i].since = kSilentTime - hours(24 + static_cast<int>(i));
  }
  EXPECT_EQ(objection_in(nodes), "");
}

TEST(SilentNodes, EachDomainHasItsShare) {
  auto nodes = a_fleet(40);
  for (const int i : {0, 2}) {
    nodes[static_cast<std::size_t>(i)] = a_node(i, minutes(6 + 5 * i));
    nodes[static_cast<std::size_t>(i)].place.domains = {{"rack", "r1"}};
  }
  EXPECT_THAT(objection_in(nodes), HasSubstr("silent.share: 2 of 2 GPU nodes of rack=r1"));
}

TEST(SilentNodes, WhatBeganTogetherHasOneCause) {
  auto nodes = a_fleet(100);
  nodes[0] = a_node(0, minutes(6));
  nodes[1] = a_node(1, minutes(6));
  nodes[1].since = *nodes[0].since + seconds(59);
  EXPECT_THAT(objection_in(nodes), HasSubstr("silent.together"));
  nodes[1].since = *nodes[0].since + seconds(61);
  EXPECT_EQ(objection_in(nodes), "");
}

TEST(SilentNodes, WhatBeganTogetherOnNodesWithoutGpusHasOneCause) {
  auto nodes = a_fleet(100);
  nodes[0] = a_node(0, minutes(6));
  nodes[2] = a_node(2, minutes(6));
  nodes[2].has_gpus = false;
  EXPECT_THAT(objection_in(nodes), HasSubstr("silent.together: 1 other node fell silent"));
  nodes[2].place.zone = "";
  EXPECT_THAT(objection_in(nodes), HasSubstr("silent.together")) << "its place is not known";
  nodes[2].place.zone = "zone-1";
  EXPECT_EQ(objection_in(nodes), "") << "a failure elsewhere";
  nodes[2].place.zone = "zone-0";
  nodes[0].place.domains = {{"rack", "r1"}, {"row", "7"}};
  nodes[2].place.domains = {{"rack", "r2"}};
  EXPECT_EQ(objection_in(nodes), "");
  nodes[2].place.domains = {{"rack", "r1"}};
  EXPECT_THAT(objection_in(nodes, {2, 0}), HasSubstr("silent.together"));
  nodes[2].since = *nodes[0].since - seconds(61);
  EXPECT_EQ(objection_in(nodes, {2, 0}), "");
}

TEST(SilentNodes, MoreNodesWithoutGpusThanTheLimitLookLikeAPartition) {
  auto nodes = a_fleet(40);
  nodes[0] = a_node(0, minutes(6));
  for (std::size_t i = 10; i < 40; ++i) nodes[i].has_gpus = false;
  EXPECT_EQ(objection_in(nodes), "");
  for (std::size_t i : {10U, 12U, 14U, 16U})
    nodes[i].since = kSilentTime - hours(i), nodes[i].ready = "Unknown";
  EXPECT_THAT(objection_in(nodes), HasSubstr("silent.share: 5 of 40 nodes of the fleet"));
  for (std::size_t i : {10U, 12U, 14U, 16U}) nodes[i].since = kSilentTime - hours(24 + i);
  EXPECT_EQ(objection_in(nodes), "") << "they have no record, and are dead for more than a day";
  for (std::size_t i : {10U, 12U, 14U, 16U}) nodes[i].since.reset();
  EXPECT_EQ(objection_in(nodes), "") << "nor do those that no kubelet has ever spoken for";
}

TEST(SilentNodes, HaveAShareOfGpuNodesHoweverManyNodesHaveNone) {
  auto nodes = a_fleet(100);
  for (std::size_t i = 4; i < 100; ++i) nodes[i].has_gpus = false;
  for (int i = 0; i < 3; ++i) nodes[static_cast<std::size_t>(i)] = a_node(i, minutes(6 + 5 * i));
  EXPECT_THAT(objection_in(nodes), HasSubstr("silent.share: 3 of 4 GPU nodes of the fleet"));
}

TEST(SilentNodes, CountNeitherNewcomersNorThoseThatLeaveOrThatGpuwardRestarts) {
  auto nodes = a_fleet(10);
  for (int i = 0; i < 4; ++i) nodes[static_cast<std::size_t>(i)] = a_node(i, minutes(6));
  nodes[1].created = kSilentTime - minutes(7);
  nodes[2].is_leaving = true;
  nodes[3].is_restarting = true;
  EXPECT_EQ(objection_in(nodes), "");
}

// Otherwise one dead machine would block all others until its operator repairs it.
TEST(SilentNodes, CountNoMachineThatIsKnownToBeDead) {
  auto nodes = a_fleet(8);
  nodes[0] = a_node(0, minutes(6));
  nodes[2] = a_node(2, minutes(61));
  EXPECT_THAT(objection_in(nodes), HasSubstr("silent.share"));
  nodes[2].is_recorded = nodes[2].waits_for_operator = true;
  EXPECT_EQ(objection_in(nodes), "");
  nodes[2].waits_for_operator = false;
  nodes[2].since = kSilentTime - hours(25);
  EXPECT_EQ(objection_in(nodes), "");
  nodes[2].is_recorded = false;  // no operator was notified
  EXPECT_THAT(objection_in(nodes), HasSubstr("silent.share"));
}

}  // namespace
}  // namespace gpuward::remediator
