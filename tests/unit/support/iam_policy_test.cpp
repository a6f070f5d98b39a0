// The IAM of the tests refuses a request that no statement matches, and rejects a policy that it
// does not understand.
#include "tests/support/iam_policy.h"

#include <gtest/gtest.h>

namespace gpuward::support {
namespace {

const Json kStatement = {
    {"Effect", "Allow"},
    {"Action", Json::array({"ec2:RebootInstances"})},
    {"Resource", "arn:aws:ec2:*:*:instance/*"},
    {"Condition", {{"StringEquals", {{"aws:ResourceTag/kubernetes.io/cluster/a", "owned"}}}}}};
const IamCall kCall{.action = "ec2:RebootInstances",
                    .resource = "arn:aws:ec2:us-east-1:123456789012:instance/i-1",
                    .tags = {{"kubernetes.io/cluster/a", "owned"}}};

Json policy_of(const Json& statement) { return {{"Statement", Json::array({statement})}}; }

TEST(IamPolicy, AllowsIfActionResourceAndConditionMatch) {
  EXPECT_TRUE(allows(policy_of(kStatement), kCall));
  IamCall other = kCall;
  other.action = "ec2:TerminateInstances";
  EXPECT_FALSE(allows(policy_of(kStatement), other));
  other = kCall;
  other.resource = "arn:aws:ec2:us-east-1:123456789012:volume/vol-1";
  EXPECT_FALSE(allows(policy_of(kStatement), other));
  other = kCall;
  other.tags = {{"kubernetes.io/cluster/a", "shared"}};
  EXPECT_FALSE(allows(policy_of(kStatement), other));
  other.tags = {};
  EXPECT_FALSE(allows(policy_of(kStatement), other));
}

TEST(IamPolicy, ReadsNothingThatItDoesNotKnow) {
  Json statement = kStatement;
  statement["Effect"] = "Deny";
  EXPECT_THROW((void)allows(policy_of(statement), kCall), std::invalid_argument);
  statement = kStatement;
  statement["NotAction"] = "ec2:*";
  EXPECT_THROW((void)allows(policy_of(statement), kCall), std::invalid_argument);
  statement = kStatement;
  statement["Condition"] = {{"StringLike", {{"aws:ResourceTag/a", "*"}}}};
  EXPECT_THROW((void)allows(policy_of(statement), kCall), std::invalid_argument);
  statement["Condition"] = {{"StringEquals", {{"aws:RequestTag/a", "b"}}}};
  EXPECT_THROW((void)allows(policy_of(statement), kCall), std::invalid_argument);
}

}  // namespace
}  // namespace gpuward::support
