// The order of the requests and the handling of each answer of AWS, by a script: throttling, lost
// answers, states of a group's member, no right to read the protection.
#include <gmock/gmock.h>

#include "remediator/act/cloud/aws_provider.h"
#include "tests/support/permits.h"
#include "tests/unit/core/kube/scripted_client.h"
#include "tests/unit/remediator/act/drain/drain_cluster.h"

namespace gpuward::remediator {
namespace {

using kube::answer;
using ::testing::HasSubstr;

constexpr const char* kId = "i-0123456789abcdef0";

std::string described(const std::string& state) {
  return "<DescribeInstancesResponse><reservationSet><item><instancesSet><item><instanceId>" +
         std::string(kId) + "</instanceId><instanceState><name>" + state +
         "</name></instanceState><privateDnsName>gpu-1</privateDnsName><placement>"
         "<availabilityZone>us-east-1a</availabilityZone></placement></item></instancesSet></item>"
         "</reservationSet></DescribeInstancesResponse>";
}

std::string member_in(const std::string& state) {
  return "<DescribeAutoScalingInstancesResponse><DescribeAutoScalingInstancesResult>"
         "<AutoScalingInstances><member><InstanceId>" +
         std::string(kId) + "</InstanceId><LifecycleState>" + state +
         "</LifecycleState></member></AutoScalingInstances></DescribeAutoScalingInstancesResult>"
         "</DescribeAutoScalingInstancesResponse>";
}

constexpr const char* kInNoGroup =
    "<DescribeAutoScalingInstancesResponse><DescribeAutoScalingInstancesResult>"
    "<AutoScalingInstances/></DescribeAutoScalingInstancesResult>"
    "</DescribeAutoScalingInstancesResponse>";
constexpr const char* kUnprotected =
    "<DescribeInstanceAttributeResponse><disableApiTermination><value>false</value>"
    "</disableApiTermination></DescribeInstanceAttributeResponse>";

class AwsRefusalsTest : public DrainCluster {
 protected:
  AwsRefusalsTest() {
    Policy wanted;
    wanted.machines.aws = {.reboot = true, .terminate = true, .cluster = ""};
    policy_.set(wanted);
  }
  static Machine machine() {
    Machine made;
    made.node = "gpu-1";
    made.provider_id = std::string("aws:///us-east-1a/") + kId;
    return made;
  }
  void says(const std::string& body) { script_.then(answer(200, body)); }
  void refuses(int status, const std::string& code) {
    script_.then(answer(status, "<Response><Errors><Error><Code>" + code +
                                    "</Code><Message>no</Message></Error></Errors></Response>"));
  }
  // Scripts the answers to the requests that precede the action.
  void lets_it_pass(const std::string& group = kInNoGroup) {
    says(described("running"));
    says(group);
    says(kUnprotected);
  }
  [[nodiscard]] std::string last_action() const {
    const std::string& body = script_.requests.back().body;
    return body.substr(7, body.find('&') - 7);
  }

  fakes::FakeClock waiting_clock_{fakes::FakeClock::Mode::kAutoAdvance};
  CurrentPolicy policy_{Policy{}};
  kube::ScriptedClient script_;
  aws::AwsClient aws_{
      script_,
      {.variables = {{"AWS_ACCESS_KEY_ID", "AKID"}, {"AWS_SECRET_ACCESS_KEY", "s3cret"}}},
      waiting_clock_};
  AwsProvider provider_{{.policy = policy_, .api = api_, .clock = waiting_clock_, .aws = &aws_}};
};

TEST_F(AwsRefusalsTest, AsksTheRegionOfTheMachine) {
  says(described("terminated"));
  EXPECT_EQ(provider_.fate(machine()), Fate::kGone);
  EXPECT_EQ(script_.requests[0].url, "https://ec2.us-east-1.amazonaws.com/");
}

TEST_F(AwsRefusalsTest, ThrottlingIsNotNowAndNothingWasDone) {
  lets_it_pass();
  for (int i = 0; i < 5; ++i) refuses(503, "RequestLimitExceeded");
  const auto asked = provider_.terminate(machine(), support::given);
  ASSERT_FALSE(asked);
  EXPECT_TRUE(is_not_now(asked.error().kind));
  EXPECT_THAT(asked.error().message, HasSubstr("EC2 TerminateInstances: RequestLimitExceeded"));
}

TEST_F(AwsRefusalsTest, ThePermitIsAskedOnceAllIsKnownAndNothingIsAskedForWithoutIt) {
  lets_it_pass();
  EXPECT_TRUE(is_not_now(provider_.terminate(machine(), support::refused).error().kind));
  EXPECT_EQ(last_action(), "DescribeInstanceAttribute");
  says(described("running"));
  EXPECT_TRUE(is_not_now(provider_.reboot(machine(), support::refused).error().kind));
  EXPECT_EQ(last_action(), "DescribeInstances");
}

TEST_F(AwsRefusalsTest, ThePermitIsAskedAgainBeforeWhatWasThrottledIsRepeated) {
  int asked = 0;
  const Permit once = [&] { return ++asked == 1 ? Status() : support::refused(); };
  lets_it_pass();
  refuses(503, "RequestLimitExceeded");

  const auto ended = provider_.terminate(machine(), once);

  ASSERT_FALSE(ended);
  EXPECT_TRUE(is_not_now(ended.error().kind)) << "nothing was begun";
  EXPECT_THAT(ended.error().message, HasSubstr("an operator has paused the remediation"));
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(script_.requests.size(), 4U);
}

TEST_F(AwsRefusalsTest, ALostAnswerOfTheDeedIsUnknownAndNotAskedForAgain) {
  lets_it_pass();
  script_.then_fail(ErrorKind::kTimeout);
  EXPECT_TRUE(may_have_arrived(provider_.terminate(machine(), support::given).error().kind));
  EXPECT_EQ(script_.requests.size(), 4U);
  says(described("running"));
  script_.then_fail(ErrorKind::kTimeout);
  EXPECT_TRUE(may_have_arrived(provider_.reboot(machine(), support::given).error().kind));
  EXPECT_EQ(last_action(), "RebootInstances");
  EXPECT_EQ(script_.requests.size(), 6U);
}

TEST_F(AwsRefusalsTest, ALostAnswerBeforeTheDeedIsNotNow) {
  script_.then_fail(ErrorKind::kTimeout);
  EXPECT_TRUE(is_not_now(provider_.reboot(machine(), support::given).error().kind));
  std::string member = described("running");
  member.insert(
      member.find("</item></instancesSet>"),
      "<tagSet><item><key>aws:autoscaling:groupName</key><value>gpu</value></item></tagSet>");
  says(member);
  script_.then_fail(ErrorKind::kTimeout);
  EXPECT_TRUE(is_not_now(provider_.reboot(machine(), support::given).error().kind));
  EXPECT_EQ(last_action(), "DescribeAutoScalingInstances");
  script_.then_fail(ErrorKind::kTimeout);
  EXPECT_TRUE(is_not_now(provider_.terminate(machine(), support::given).error().kind));
  says(described("running"));
  script_.then(answer(500, ""));
  EXPECT_TRUE(is_not_now(provider_.terminate(machine(), support::given).error().kind));
  says(described("running"));
  says(kInNoGroup);
  script_.then_fail(ErrorKind::kUnavailable);
  EXPECT_TRUE(is_not_now(provider_.terminate(machine(), support::given).error().kind));
}

TEST_F(AwsRefusalsTest, AMemberOfAGroupIsOnItsWayUntilItsHooksLetGo) {
  says(described("running"));
  says(member_in("Terminating:Wait"));
  EXPECT_EQ(provider_.fate(machine()), Fate::kEnding);
  says(described("running"));
  says(member_in("Terminating:Wait"));
  EXPECT_TRUE(provider_.terminate(machine(), support::given));
  EXPECT_EQ(last_action(), "DescribeAutoScalingInstances");
  for (const char* const state : {"Terminating:Retained", "Warmed:Terminating:Proceed"}) {
    says(described("running"));
    says(member_in(state));
    EXPECT_EQ(provider_.fate(machine()), Fate::kEnding) << state;
  }
  says(described("running"));
  says(member_in("InService"));
  EXPECT_EQ(provider_.fate(machine()), Fate::kRuns);
  says(described("shutting-down"));
  EXPECT_EQ(provider_.fate(machine()), Fate::kEnding);
}

TEST_F(AwsRefusalsTest, AGroupThatIsBusyIsAskedLater) {
  lets_it_pass(member_in("InService"));
  refuses(400, "ScalingActivityInProgress");
  const auto asked = provider_.terminate(machine(), support::given);
  ASSERT_FALSE(asked);
  EXPECT_TRUE(is_not_now(asked.error().kind));
  EXPECT_EQ(last_action(), "TerminateInstanceInAutoScalingGroup");
}

// A group terminates protected instances too, EC2 does not.
TEST_F(AwsRefusalsTest, WithoutTheRightToReadTheProtectionNoGroupIsAsked) {
  says(described("running"));
  says(member_in("InService"));
  refuses(403, "UnauthorizedOperation");
  const auto asked = provider_.terminate(machine(), support::given);
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().kind, ErrorKind::kForbidden);
  EXPECT_THAT(asked.error().message, HasSubstr("EC2 DescribeInstanceAttribute"));

  says(described("running"));
  says(kInNoGroup);
  refuses(403, "UnauthorizedOperation");
  refuses(400, "OperationNotPermitted");
  EXPECT_EQ(provider_.terminate(machine(), support::given).error().kind, ErrorKind::kRefused);
  EXPECT_EQ(last_action(), "TerminateInstances");
}

TEST_F(AwsRefusalsTest, WhatAwsDoesNotKnowIsGoneOnlyIfItWasSeen) {
  refuses(400, "InvalidInstanceID.NotFound");
  const auto unseen = provider_.fate(machine());
  ASSERT_FALSE(unseen);
  EXPECT_THAT(unseen.error().message, HasSubstr("belong to another account"));
  refuses(400, "InvalidInstanceID.NotFound");
  EXPECT_EQ(provider_.terminate(machine(), support::given).error().kind, ErrorKind::kNotFound);

  says(described("shutting-down"));
  EXPECT_EQ(provider_.fate(machine()), Fate::kEnding);
  refuses(400, "InvalidInstanceID.NotFound");
  EXPECT_EQ(provider_.fate(machine()), Fate::kGone);
  refuses(400, "InvalidInstanceID.NotFound");
  EXPECT_TRUE(provider_.terminate(machine(), support::given));
}

// EC2 clears the private DNS name of an instance that has ended.
TEST_F(AwsRefusalsTest, WhatEndsAlreadyIsASuccessAndNotAskedFor) {
  for (const char* const state : {"shutting-down", "terminated"}) {
    std::string ended = described(state);
    ended.replace(ended.find("<privateDnsName>gpu-1"), 21, "<privateDnsName>");
    says(ended);
    EXPECT_TRUE(provider_.terminate(machine(), support::given)) << state;
    EXPECT_EQ(last_action(), "DescribeInstances");
  }
}

TEST_F(AwsRefusalsTest, WhatDoesNotRunIsNotRestarted) {
  says(described("stopped"));
  const auto asked = provider_.reboot(machine(), support::given);
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().kind, ErrorKind::kRefused);
  EXPECT_THAT(asked.error().message, HasSubstr("is stopped, not running"));
  EXPECT_EQ(last_action(), "DescribeInstances");
  std::string ended = described("terminated");
  ended.replace(ended.find("<privateDnsName>gpu-1"), 21, "<privateDnsName>");
  says(ended);
  EXPECT_THAT(provider_.reboot(machine(), support::given).error().message,
              HasSubstr("is terminated, not running"));
}

TEST_F(AwsRefusalsTest, IsAskedOnlyForWhatThePolicySwitchesOn) {
  EXPECT_TRUE(provider_.can(MachineAction::kReboot, machine()));
  EXPECT_TRUE(provider_.can(MachineAction::kTerminate, machine()));
  Policy wanted;
  wanted.machines.aws.terminate = true;
  policy_.set(wanted);
  EXPECT_FALSE(provider_.can(MachineAction::kReboot, machine()));
  EXPECT_TRUE(provider_.can(MachineAction::kTerminate, machine()));
  Machine elsewhere = machine();
  elsewhere.provider_id = "gce://p/z/gpu-1";
  EXPECT_FALSE(provider_.can(MachineAction::kTerminate, elsewhere));
  EXPECT_EQ(provider_.terminate(elsewhere, support::given).error().kind, ErrorKind::kRefused);
  EXPECT_TRUE(script_.requests.empty());
}

TEST_F(AwsRefusalsTest, StandsBehindTheOwnerInTheClusterAndBeforeTheProgram) {
  Policy wanted;
  wanted.machines.aws.terminate = true;
  wanted.machines.terminate = wanted.machines.is_gone = {"/bin/false"};
  policy_.set(wanted);
  const auto all =
      make_providers({.policy = policy_, .api = api_, .clock = waiting_clock_, .aws = &aws_});
  says(described("terminated"));
  EXPECT_EQ(all->fate(machine()), Fate::kGone);
  Machine owned = machine();
  owned.owner = parse_owner("karpenter.sh/v1/nodeclaims//claim-1");
  EXPECT_THAT(all->terminate(owned, support::given).error().message,
              HasSubstr("NodeClaim claim-1"));
  EXPECT_EQ(script_.requests.size(), 1U);
}

// moto has no impaired instances.
TEST_F(AwsRefusalsTest, TheStatusChecksOfEc2AreProofs) {
  const auto proof_of = [&](const std::string& state, const std::string& system,
                            const std::string& instance) {
    says("<DescribeInstanceStatusResponse><instanceStatusSet><item><instanceId>" +
         std::string(kId) + "</instanceId><instanceState><name>" + state +
         "</name></instanceState><systemStatus><status>" + system +
         "</status></systemStatus><instanceStatus><status>" + instance +
         "</status></instanceStatus></item></instanceStatusSet></DescribeInstanceStatusResponse>");
    const auto proofs = provider_.proofs(machine());
    return proofs.size() == 1 ? proofs[0] : MachineProof();
  };
  EXPECT_EQ(proof_of("running", "impaired", "ok").sign, ProofSign::kDown);
  EXPECT_EQ(proof_of("running", "ok", "impaired").sign, ProofSign::kDown);
  EXPECT_EQ(proof_of("running", "ok", "ok").sign, ProofSign::kUp);
  EXPECT_EQ(proof_of("running", "insufficient-data", "ok").sign, ProofSign::kUnknown);
  EXPECT_EQ(proof_of("running", "initializing", "initializing").sign, ProofSign::kUnknown);
  EXPECT_EQ(proof_of("stopping", "", "").sign, ProofSign::kDown);
  EXPECT_FALSE(proof_of("stopping", "", "").is_off);
  EXPECT_TRUE(proof_of("stopped", "", "").is_off);
  EXPECT_EQ(last_action(), "DescribeInstanceStatus");
  refuses(403, "UnauthorizedOperation");
  EXPECT_EQ(provider_.proofs(machine()).at(0).sign, ProofSign::kUnknown);
  says("<DescribeInstanceStatusResponse><instanceStatusSet/></DescribeInstanceStatusResponse>");
  EXPECT_EQ(provider_.proofs(machine()).at(0).sign, ProofSign::kUnknown);
}

TEST_F(AwsRefusalsTest, NobodyIsAskedForProofsIfEc2RestartsAndEndsNothing) {
  policy_.set(Policy());
  EXPECT_TRUE(provider_.proofs(machine()).empty());
  EXPECT_TRUE(script_.requests.empty());
}

}  // namespace
}  // namespace gpuward::remediator
