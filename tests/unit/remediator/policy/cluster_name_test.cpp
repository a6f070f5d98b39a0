#include "remediator/policy/cluster_name.h"

#include <gmock/gmock.h>

#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

TEST(ClusterName, IsReadAsClustersAreNamed) {
  for (const char* name : {"prod-1", "eu.west", "arn:aws:eks:us-east-1:111122223333:cluster/a_b"}) {
    const auto policy = parse_policy("cluster: \"" + std::string(name) + "\"\n");
    ASSERT_TRUE(policy) << policy.error().message;
    EXPECT_EQ(policy->cluster, name);
  }
  EXPECT_EQ(parse_policy("mode: taint\n")->cluster, "");
}

TEST(ClusterName, IsRefusedIfItWouldChangeAQuery) {
  for (const char* name : {"a|b", "a\\\"b", ".*", "a b", "a{b}"}) {
    const auto policy = parse_policy("cluster: \"" + std::string(name) + "\"\n");
    ASSERT_FALSE(policy) << name;
    EXPECT_THAT(policy.error().message, HasSubstr("cluster: must be at most 253 characters"));
  }
}

TEST(ClusterName, MatchesItselfAndSeriesWithoutOne) {
  EXPECT_EQ(cluster_matcher(""), "");
  EXPECT_EQ(cluster_matcher("eu.west"), ",cluster=~\"|eu[.]west\"");
  EXPECT_EQ(other_clusters_matcher(""), "");
  EXPECT_EQ(other_clusters_matcher("a"), ",cluster!~\"|a\"");
}

}  // namespace
}  // namespace gpuward::remediator
