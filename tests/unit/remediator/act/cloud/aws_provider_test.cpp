// The AWS provider on moto, an independent implementation: EC2 and Auto Scaling in memory, with
// checks of signatures and rights.
#include "remediator/act/cloud/aws_provider.h"

#include <gmock/gmock.h>

#include "tests/support/permits.h"
#include "tests/unit/remediator/act/cloud/aws_stage.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

class AwsProviderTest : public AwsStage {};

TEST_F(AwsProviderTest, EndsAnInstanceOfItsOwnThroughEc2) {
  const std::string id = run_instance();
  const Machine machine = machine_of(id);
  EXPECT_EQ(provider_->fate(machine), Fate::kRuns);
  const auto asked = provider_->terminate(machine, support::given);
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(seen(id).state, "terminated");
  EXPECT_EQ(provider_->fate(machine), Fate::kGone);
  EXPECT_TRUE(provider_->terminate(machine, support::given)) << "gone already is a success";
}

TEST_F(AwsProviderTest, EndsAMemberOfAGroupThroughItsGroupWhichMakesAnother) {
  const std::string id = run_group("gpu");
  const Machine machine = machine_of(id);
  EXPECT_EQ(provider_->fate(machine), Fate::kRuns);
  const auto asked = provider_->terminate(machine, support::given);
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(provider_->fate(machine), Fate::kGone);
  const auto now = moto->members_of("gpu");
  ASSERT_EQ(now.size(), 1U) << "the group has lost its member and got no other";
  EXPECT_NE(now[0], id);
}

TEST_F(AwsProviderTest, RestartsARunningInstance) {
  const std::string id = run_instance();
  const auto asked = provider_->reboot(machine_of(id), support::given);
  EXPECT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(seen(id).state, "running");
  ec2("StopInstances", {{"InstanceId.1", id}});
  EXPECT_EQ(provider_->reboot(machine_of(id), support::given).error().kind, ErrorKind::kRefused);
}

TEST_F(AwsProviderTest, TerminationProtectionIsNeverTakenAway) {
  for (const std::string& id : {run_instance(), run_group("protected")}) {
    ec2("ModifyInstanceAttribute", {{"InstanceId", id}, {"DisableApiTermination.Value", "true"}});
    const auto asked = provider_->terminate(machine_of(id), support::given);
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().kind, ErrorKind::kRefused);
    EXPECT_THAT(asked.error().message, HasSubstr("instance " + id + " has termination protection"));
    EXPECT_EQ(seen(id).state, "running");
    EXPECT_EQ(provider_->fate(machine_of(id)), Fate::kRuns);
  }
}

TEST_F(AwsProviderTest, AnotherMachineThanTheNodesIsLeftAlone) {
  const std::string id = run_instance();
  Machine machine = machine_of(id);
  machine.node = "gpu-1";
  EXPECT_EQ(provider_->terminate(machine, support::given).error().kind, ErrorKind::kRefused);
  EXPECT_EQ(provider_->reboot(machine, support::given).error().kind, ErrorKind::kRefused);
  EXPECT_EQ(seen(id).state, "running");

  ec2("CreateTags",
      {{"ResourceId.1", id}, {"Tag.1.Key", "kubernetes.io/cluster/gpu"}, {"Tag.1.Value", "owned"}});
  Policy wanted;
  wanted.machines.aws = {.reboot = true, .terminate = true, .cluster = "gpu"};
  policy_.set(wanted);
  const auto asked = provider_->terminate(machine, support::given);
  EXPECT_TRUE(asked) << asked.error().message;
}

TEST_F(AwsProviderTest, WhatAwsHasNeverKnownIsNotTakenForGone) {
  Machine machine;
  machine.node = "gpu-1";
  machine.provider_id = "aws:///us-east-1a/i-00000000000000000";
  EXPECT_EQ(provider_->terminate(machine, support::given).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(provider_->fate(machine).error().kind, ErrorKind::kNotFound);
}

TEST_F(AwsProviderTest, WrongKeysAreOneClearErrorAndNothingIsDone) {
  const Machine machine = machine_of(run_instance());
  auto wrong = rights;
  wrong["AWS_SECRET_ACCESS_KEY"] = "wrong";
  use(wrong);
  const auto asked = provider_->terminate(machine, support::given);
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().kind, ErrorKind::kUnauthenticated);
  EXPECT_THAT(asked.error().message, HasSubstr("EC2 DescribeInstances: AuthFailure: "));
  wrong["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1";
  use(wrong);
  EXPECT_TRUE(is_not_now(provider_->terminate(machine, support::given).error().kind));
}

// Each right of the shipped policy is needed: without it one action fails and names it.
TEST_F(AwsProviderTest, EachRightOfTheShippedPolicyIsNeeded) {
  const std::vector<std::string> actions = shipped_actions();
  ASSERT_EQ(actions.size(), 7U);
  for (std::size_t left_out = 0; left_out < actions.size(); ++left_out) {
    std::vector<std::string> others = actions;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    const auto user = moto->add_user("without-" + std::to_string(left_out), allowing(others));
    ASSERT_TRUE(user) << user.error().message;
    use(*user);
    const std::string alone = run_instance();
    const std::string member = run_group("without-" + std::to_string(left_out));
    std::string said;
    for (const auto& done : {provider_->reboot(machine_of(alone), support::given),
                             provider_->terminate(machine_of(alone), support::given),
                             provider_->terminate(machine_of(member), support::given)}) {
      if (!done) said += done.error().message + "\n";
    }
    for (const MachineProof& proof : provider_->proofs(machine_of(run_instance())))
      said += proof.words + "\n";
    EXPECT_THAT(said, HasSubstr("AWS does not allow " + actions[left_out] + " for "));
    EXPECT_THAT(said, HasSubstr("is not authorized to perform: " + actions[left_out]));
  }
}

TEST_F(AwsProviderTest, SaysOfAnInstanceThatRunsThatItIsUp) {
  const auto proofs = provider_->proofs(machine_of(run_instance()));
  ASSERT_EQ(proofs.size(), 1U);
  EXPECT_EQ(proofs[0].sign, ProofSign::kUp) << proofs[0].words;
}

TEST_F(AwsProviderTest, SaysOfAnInstanceThatWasStoppedThatItIsOff) {
  const std::string id = run_instance();
  const Machine machine = machine_of(id);
  ec2("StopInstances", {{"InstanceId.1", id}});
  const auto proofs = provider_->proofs(machine);
  ASSERT_EQ(proofs.size(), 1U);
  EXPECT_EQ(proofs[0].sign, ProofSign::kDown) << proofs[0].words;
  EXPECT_TRUE(proofs[0].is_off);
}

}  // namespace
}  // namespace gpuward::remediator
