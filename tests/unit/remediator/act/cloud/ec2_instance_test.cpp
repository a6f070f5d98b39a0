#include "remediator/act/cloud/ec2_instance.h"

#include <gmock/gmock.h>

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDescribedId = "i-0123456789abcdef0";

Machine node_of(const std::string& name = "ip-10-0-0-1.ec2.internal") {
  Machine machine;
  machine.node = name;
  machine.provider_id = std::string("aws:///us-east-1a/") + kDescribedId;
  machine.labels = {{"topology.kubernetes.io/zone", "us-east-1a"},
                    {"node.kubernetes.io/instance-type", "p5.48xlarge"}};
  return machine;
}

Ec2Instance described() {
  return {.id = kDescribedId,
          .state = "running",
          .reason = {},
          .zone = "us-east-1a",
          .type = "p5.48xlarge",
          .private_dns = "ip-10-0-0-1.ec2.internal",
          .tags = {"Name", "kubernetes.io/cluster/gpu"}};
}

std::string difference_of(const Ec2Instance& instance, const Machine& machine,
                          const std::string& cluster = "") {
  return difference(instance, *parse_ec2_id(machine.provider_id), machine, cluster).value_or("");
}

TEST(Ec2Id, IsOfAnInstanceInAZone) {
  const auto id = parse_ec2_id("aws:///us-east-1a/i-0123456789abcdef0");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->instance, kDescribedId);
  EXPECT_EQ(id->zone, "us-east-1a");
  EXPECT_EQ(id->region, "us-east-1");
  EXPECT_TRUE(parse_ec2_id("aws:///us-east-1a/i-0123abcd"));
}

TEST(Ec2Id, KnowsTheRegionOfEveryKindOfZone) {
  const auto region = [](const std::string& zone) {
    return parse_ec2_id("aws:///" + zone + "/i-0123abcd").value_or(Ec2Id{}).region;
  };
  EXPECT_EQ(region("us-gov-west-1b"), "us-gov-west-1");
  EXPECT_EQ(region("us-west-2-lax-1a"), "us-west-2");
  EXPECT_EQ(region("us-east-1-wl1-bos-wlz-1"), "us-east-1");
  EXPECT_EQ(region("ap-southeast-12c"), "ap-southeast-12");
}

TEST(Ec2Id, WhatIsNoneIsRefused) {
  for (const char* const text :
       {"", "i-0123456789abcdef0", "aws:///us-east-1a", "aws:///us-east-1a/", "aws:////i-0123abcd",
        "aws:///us-east-1a/i-0123456789abcdef", "aws:///us-east-1a/i-0123456789ABCDEF0",
        "aws:///us-east-1a/i-0123abcd/x", "aws:///us-east-1a/x/i-0123abcd", "aws:///a/i-0123abcd",
        "aws:///us-east-1a/fargate-ip-10-0-0-1.ec2.internal",
        "aws:///usw2-az2/sagemaker/cluster/hyperpod-x-i-0123456789abcdef0",
        "eks-hybrid:///us-east-1/c/mi-0123456789abcdef0", "gce://p/z/i-0123abcd"}) {
    EXPECT_FALSE(parse_ec2_id(text)) << text;
  }
}

TEST(Ec2Instance, IsFoundInItsReservation) {
  const auto answer = aws::parse_xml(
      "<DescribeInstancesResponse><reservationSet><item><instancesSet><item><instanceId>i-1"
      "</instanceId></item></instancesSet></item><item><instancesSet><item><instanceId>i-2"
      "</instanceId><instanceState><code>16</code><name>running</name></instanceState>"
      "<privateDnsName>ip-1</privateDnsName><instanceType>p5.48xlarge</instanceType><placement>"
      "<availabilityZone>us-east-1b</availabilityZone></placement><tagSet><item><key>a</key>"
      "<value>1</value></item><item><key>b</key><value/></item></tagSet></item></instancesSet>"
      "</item></reservationSet></DescribeInstancesResponse>");
  ASSERT_TRUE(answer);
  const auto instance = find_instance(*answer, "i-2");
  ASSERT_TRUE(instance);
  EXPECT_EQ(instance->state, "running");
  EXPECT_EQ(instance->zone, "us-east-1b");
  EXPECT_EQ(instance->type, "p5.48xlarge");
  EXPECT_EQ(instance->private_dns, "ip-1");
  EXPECT_EQ(instance->tags, (std::set<std::string>{"a", "b"}));
  EXPECT_FALSE(find_instance(*answer, "i-3"));
}

// EC2 API Reference, StateReason.
TEST(Ec2Instance, SaysWhyItIsInItsState) {
  const auto answer = aws::parse_xml(
      "<DescribeInstancesResponse><reservationSet><item><instancesSet><item><instanceId>i-1"
      "</instanceId><instanceState><code>48</code><name>terminated</name></instanceState>"
      "<stateReason><code>Server.SpotInstanceTermination</code><message>"
      "Server.SpotInstanceTermination: A Spot Instance was terminated due to an increase in the "
      "Spot price.</message></stateReason></item></instancesSet></item></reservationSet>"
      "</DescribeInstancesResponse>");
  ASSERT_TRUE(answer);
  const auto instance = find_instance(*answer, "i-1");
  ASSERT_TRUE(instance);
  EXPECT_THAT(instance->reason, HasSubstr("Server.SpotInstanceTermination: A Spot Instance was"));
}

TEST(Ec2Instance, IsTheNodesIfItsNameAndPlaceAgree) {
  EXPECT_EQ(difference_of(described(), node_of()), "");
  EXPECT_EQ(difference_of(described(), node_of(kDescribedId)), "");
  EXPECT_EQ(difference_of(described(),
                          node_of(std::string(kDescribedId) + ".us-east-1.compute.internal")),
            "");
  Machine bare = node_of();
  bare.labels.clear();
  EXPECT_EQ(difference_of(described(), bare), "");
}

TEST(Ec2Instance, OfAnotherNameIsTheNodesByTheTagOfItsCluster) {
  EXPECT_THAT(difference_of(described(), node_of("gpu-1")), HasSubstr("machines.aws.cluster"));
  EXPECT_THAT(difference_of(described(), node_of("gpu-1"), "other"),
              HasSubstr("has no tag kubernetes.io/cluster/other"));
  EXPECT_EQ(difference_of(described(), node_of("gpu-1"), "gpu"), "");
}

TEST(Ec2Instance, ElsewhereOrOfAnotherTypeIsNotTheNodes) {
  Ec2Instance other = described();
  other.zone = "us-east-1b";
  EXPECT_EQ(difference_of(other, node_of()), std::string("instance ") + kDescribedId +
                                                 " is in zone us-east-1b, but the node is in zone "
                                                 "us-east-1a");
  Machine without_labels = node_of();
  without_labels.labels.clear();
  EXPECT_THAT(difference_of(other, without_labels),
              HasSubstr("but the node is in zone us-east-1a"));
  Machine moved = node_of();
  moved.labels["topology.kubernetes.io/zone"] = "us-east-1c";
  EXPECT_THAT(difference_of(described(), moved), HasSubstr("but the node is in zone us-east-1c"));
  other = described();
  other.type = "m5.large";
  EXPECT_THAT(difference_of(other, node_of()), HasSubstr("has type m5.large"));
}

}  // namespace
}  // namespace gpuward::remediator
