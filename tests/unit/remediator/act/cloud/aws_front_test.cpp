// Failures of AWS, on moto behind a front that answers as AWS does on its bad days
// (tests/support/aws_front.h): lifecycle hooks, throttling, no capacity, lost answers, expired
// keys, and rights that a condition removes.
#include "tests/support/aws_front.h"

#include <gmock/gmock.h>

#include "tests/support/permits.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/remediator/act/cloud/aws_stage.h"

namespace gpuward::remediator {
namespace {

using support::AwsRefusal;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const AwsRefusal kThrottled{503, "RequestLimitExceeded", "Request limit exceeded."};
const AwsRefusal kNoCapacity{500, "InsufficientInstanceCapacity",
                             "We currently do not have sufficient p5.48xlarge capacity in the "
                             "Availability Zone you requested (us-east-1a)."};
// EC2's answer for an expired session; other services answer ExpiredToken (pull request 253 of
// aws/aws-sdk-go).
const AwsRefusal kExpired{400, "RequestExpired", "Request has expired."};
constexpr const char* kTag = "kubernetes.io/cluster/fleet";

class AwsFrontTest : public AwsStage {
 protected:
  void SetUp() override {
    AwsStage::SetUp();
    if (!moto) return;
    front_ = std::make_unique<support::AwsFront>(*moto);
    use(front_->variables(rights));
  }
  static std::string run_group_with_hook(const std::string& name) {
    const std::string id = run_group(name);
    const auto hook = moto->auto_scaling(
        "PutLifecycleHook", {{"AutoScalingGroupName", name},
                             {"LifecycleHookName", "drain"},
                             {"LifecycleTransition", "autoscaling:EC2_INSTANCE_TERMINATING"}});
    EXPECT_TRUE(hook) << hook.error().message;
    return id;
  }
  static void tag(const std::string& id, const std::string& value) {
    ec2("CreateTags", {{"ResourceId.1", id}, {"Tag.1.Key", kTag}, {"Tag.1.Value", value}});
  }
  static http::Query group_tagged(const std::string& value) {
    return {{"Tags.member.1.Key", kTag},
            {"Tags.member.1.Value", value},
            {"Tags.member.1.PropagateAtLaunch", "true"}};
  }
  void enforce_shipped_policy() {
    Policy wanted;
    wanted.machines.aws = {.reboot = true, .terminate = true, .cluster = "fleet"};
    policy_.set(wanted);
    front_->enforce(shipped_policy("fleet"));
  }
  // Reads the keys from a file, as a Secret is mounted.
  void use_file(const std::map<std::string, std::string>& user) {
    write_keys(user);
    auto variables = front_->variables(user);
    variables.erase("AWS_ACCESS_KEY_ID");
    variables.erase("AWS_SECRET_ACCESS_KEY");
    variables["AWS_SHARED_CREDENTIALS_FILE"] = (folder_ / "credentials").string();
    variables["AWS_CONFIG_FILE"] = (folder_ / "config").string();
    variables["AWS_EC2_METADATA_DISABLED"] = "true";
    use(variables);
  }
  void write_keys(const std::map<std::string, std::string>& user) {
    folder_.write("credentials",
                  "[default]\naws_access_key_id = " + user.at("AWS_ACCESS_KEY_ID") +
                      "\naws_secret_access_key = " + user.at("AWS_SECRET_ACCESS_KEY") + "\n");
  }
  static std::map<std::string, std::string> new_user(const std::string& name) {
    const auto user = moto->add_user(name, allowing(shipped_actions()));
    EXPECT_TRUE(user) << user.error().message;
    return user.value_or(rights);
  }
  std::string refused(const Status& asked, ErrorKind kind) {
    EXPECT_FALSE(asked);
    if (asked) return {};
    EXPECT_EQ(asked.error().kind, kind) << asked.error().message;
    return asked.error().message;
  }

  support::TempDir folder_;
  std::unique_ptr<support::AwsFront> front_;
};

TEST_F(AwsFrontTest, AMemberIsEndingAndSaysWhyUntilItsGroupsHookIsDone) {
  const std::string id = run_group_with_hook("hooked");
  const Machine machine = machine_of(id);
  ASSERT_TRUE(provider_->terminate(machine, support::given));
  EXPECT_EQ(seen(id).state, "running") << "the hook holds it";

  const auto fate = provider_->fate(machine);
  ASSERT_TRUE(fate) << fate.error().message;
  EXPECT_EQ(fate->is, Fate::kEnding);
  EXPECT_EQ(fate->words,
            "Auto Scaling group hooked reports the instance in lifecycle state Terminating:Wait");
  EXPECT_TRUE(provider_->terminate(machine, support::given));
  EXPECT_EQ(front_->carried_out("TerminateInstanceInAutoScalingGroup"), 1);

  front_->complete_hook(id);
  EXPECT_EQ(provider_->fate(machine), Fate::kGone);
  const auto now = moto->members_of("hooked");
  ASSERT_EQ(now.size(), 1U) << "the group's size stays";
  EXPECT_NE(now[0], id);
}

TEST_F(AwsFrontTest, AMachineThatItsGroupIsEndingIsNotRestarted) {
  const std::string id = run_group_with_hook("ending");
  const Machine machine = machine_of(id);
  ASSERT_TRUE(provider_->terminate(machine, support::given));

  const std::string said = refused(provider_->reboot(machine, support::given), ErrorKind::kBlocked);
  EXPECT_THAT(
      said,
      HasSubstr(
          "Auto Scaling group ending reports the instance in lifecycle state Terminating:Wait"));
  EXPECT_EQ(front_->asked("RebootInstances"), 0);
}

TEST_F(AwsFrontTest, AThrottledCallIsRepeatedUntilItIsTakenAndCarriedOutOnce) {
  const std::string alone = run_instance();
  front_->refuse("RebootInstances", kThrottled, 3);
  EXPECT_TRUE(provider_->reboot(machine_of(alone), support::given));
  EXPECT_EQ(front_->asked("RebootInstances"), 4);
  EXPECT_EQ(front_->carried_out("RebootInstances"), 1);

  const std::string member = run_group("throttled");
  front_->refuse("TerminateInstanceInAutoScalingGroup", {400, "Throttling", "Rate exceeded"}, 2);
  EXPECT_TRUE(provider_->terminate(machine_of(member), support::given));
  EXPECT_EQ(front_->carried_out("TerminateInstanceInAutoScalingGroup"), 1);
  EXPECT_EQ(moto->members_of("throttled").size(), 1U);
}

TEST_F(AwsFrontTest, ThrottlingThatLastsIsSaidWithinSecondsInWordsThatStayTheSame) {
  const Machine machine = machine_of(run_instance());
  front_->refuse("TerminateInstances", kThrottled, 100);
  const auto before = waiting_clock_.steady();
  const std::string said =
      refused(provider_->terminate(machine, support::given), ErrorKind::kOverloaded);
  EXPECT_LT(waiting_clock_.steady() - before, std::chrono::seconds(10));
  EXPECT_EQ(said, "EC2 TerminateInstances: RequestLimitExceeded: Request limit exceeded.");
  EXPECT_EQ(refused(provider_->terminate(machine, support::given), ErrorKind::kOverloaded), said);
  EXPECT_EQ(front_->carried_out("TerminateInstances"), 0);
}

TEST_F(AwsFrontTest, WithoutCapacityNothingWasBegunAndTheStepWaits) {
  const Machine machine = machine_of(run_instance());
  front_->refuse("RebootInstances", kNoCapacity);
  const Status asked = provider_->reboot(machine, support::given);
  EXPECT_THAT(refused(asked, ErrorKind::kBlocked), HasSubstr("sufficient p5.48xlarge capacity"));
  EXPECT_TRUE(is_not_now(asked.error().kind));
  EXPECT_EQ(front_->asked("RebootInstances"), 1);
}

TEST_F(AwsFrontTest, AnEndWhoseAnswerWasLostIsUnknownAndNotAskedForTwice) {
  const std::string alone = run_instance(), member = run_group("lost");
  for (const auto& [id, action] : {std::pair{alone, "TerminateInstances"},
                                   std::pair{member, "TerminateInstanceInAutoScalingGroup"}}) {
    const Machine machine = machine_of(id);
    front_->lose_answer(action);
    EXPECT_TRUE(may_have_arrived(provider_->terminate(machine, support::given).error().kind));
    EXPECT_EQ(provider_->fate(machine), Fate::kGone);
    EXPECT_TRUE(provider_->terminate(machine, support::given));
    EXPECT_EQ(front_->asked(action), 1);
  }
  EXPECT_EQ(moto->members_of("lost").size(), 1U);
}

TEST_F(AwsFrontTest, KeysThatHaveEndedAreReadAgainFromTheirFile) {
  const Machine machine = machine_of(run_instance());
  use_file(new_user("before"));
  ASSERT_EQ(provider_->fate(machine), Fate::kRuns);
  write_keys(new_user("after"));
  front_->refuse("RebootInstances", kExpired);

  const auto asked = provider_->reboot(machine, support::given);

  EXPECT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(front_->carried_out("RebootInstances"), 1);
}

// AWS gives the same answer for a deleted key as for one that never existed.
TEST_F(AwsFrontTest, KeysThatWereReplacedAreReadAgainFromTheirFile) {
  const Machine machine = machine_of(run_instance());
  const auto old = new_user("rotated");
  use_file(old);
  ASSERT_EQ(provider_->fate(machine), Fate::kRuns);
  write_keys(new_user("rotated-in"));
  const auto deleted = moto->iam(
      "DeleteAccessKey", {{"UserName", "rotated"}, {"AccessKeyId", old.at("AWS_ACCESS_KEY_ID")}});
  ASSERT_TRUE(deleted) << deleted.error().message;

  const auto asked = provider_->reboot(machine, support::given);

  EXPECT_TRUE(asked) << asked.error().message;
}

TEST_F(AwsFrontTest, KeysThatHaveEndedWithoutOthersAreSaidAndNotTriedAgain) {
  const Machine machine = machine_of(run_instance());
  const auto user = new_user("ended");
  use_file(user);
  front_->refuse("DescribeInstances", kExpired, 2);
  const std::string said =
      refused(provider_->reboot(machine, support::given), ErrorKind::kUnauthenticated);
  EXPECT_THAT(said,
              AllOf(HasSubstr("RequestExpired: Request has expired."),
                    HasSubstr("these credentials have expired, and no newer ones are available"),
                    Not(HasSubstr(user.at("AWS_SECRET_ACCESS_KEY")))));
  EXPECT_EQ(front_->asked("DescribeInstances"), 1);
}

TEST_F(AwsFrontTest, TheShippedPolicyAllowsAllThatIsAskedForMachinesOfItsCluster) {
  enforce_shipped_policy();
  const std::string alone = run_instance(), member = run_group("owned", group_tagged("owned"));
  tag(alone, "owned");
  tag(member, "owned");
  EXPECT_EQ(provider_->proofs(machine_of(alone)).at(0).sign, ProofSign::kUp);
  for (const Status& done : {provider_->reboot(machine_of(alone), support::given),
                             provider_->terminate(machine_of(alone), support::given),
                             provider_->terminate(machine_of(member), support::given)})
    EXPECT_TRUE(done) << done.error().message;
  for (const std::string& action : shipped_actions()) {
    const std::string name = action.substr(action.find(':') + 1);
    EXPECT_GE(front_->carried_out(name), 1) << "nothing needs " << action;
  }
}

TEST_F(AwsFrontTest, ARightThatItsConditionTakesAwayIsNamedWithTheMachineAndWhatToDo) {
  enforce_shipped_policy();
  const std::string alone = run_instance(), member = run_group("shared", group_tagged("shared"));
  tag(alone, "shared");
  tag(member, "owned");
  const auto expect = [&](const Status& asked, const std::string& right, const std::string& what) {
    const std::string said = refused(asked, ErrorKind::kForbidden);
    EXPECT_EQ(said.find("AWS does not allow " + right + " for " + what +
                        "; the role needs manifests/remediator-aws-iam.json, which requires the "
                        "tag kubernetes.io/cluster/fleet=owned: "),
              0U)
        << said;
    EXPECT_THAT(said, HasSubstr("because no identity-based policy allows the " + right));
    EXPECT_THAT(said, Not(HasSubstr("Encoded")));
    EXPECT_THAT(said, Not(HasSubstr("request-"))) << "words that stay the same";
  };
  expect(provider_->reboot(machine_of(alone), support::given), "ec2:RebootInstances",
         "instance " + alone);
  expect(provider_->terminate(machine_of(alone), support::given), "ec2:TerminateInstances",
         "instance " + alone);
  expect(provider_->terminate(machine_of(member), support::given),
         "autoscaling:TerminateInstanceInAutoScalingGroup",
         "the Auto Scaling group of instance " + member);
  EXPECT_EQ(seen(alone).state, "running");
  EXPECT_EQ(seen(member).state, "running");
}

// gpuward treats a spot instance like any other, except for its message once EC2 has reclaimed it.
TEST_F(AwsFrontTest, ASpotInstanceIsRestartedAndEndedLikeAnyOther) {
  const http::Query spot = {{"InstanceMarketOptions.MarketType", "spot"}};
  const std::string id = run_instance(spot);
  EXPECT_TRUE(provider_->reboot(machine_of(id), support::given));
  EXPECT_TRUE(provider_->terminate(machine_of(id), support::given));
  EXPECT_EQ(seen(id).state, "terminated");
}

TEST_F(AwsFrontTest, AMachineThatEndedMeanwhileIsNotRestartedAndItsReasonIsSaid) {
  const std::string id = run_instance();
  const Machine machine = machine_of(id);
  ec2("TerminateInstances", {{"InstanceId.1", id}});
  EXPECT_THAT(refused(provider_->reboot(machine, support::given), ErrorKind::kRefused),
              AllOf(HasSubstr("instance " + id + " is terminated, not running"),
                    HasSubstr("Client.UserInitiatedShutdown")));
}

TEST_F(AwsFrontTest, AStatusThatMayNotBeReadIsSaidInWordsThatStayTheSame) {
  const Machine machine = machine_of(run_instance());
  front_->refuse("DescribeInstanceStatus", {403, "UnauthorizedOperation", "You are not."}, 2);
  const std::string said = provider_->proofs(machine).at(0).words;
  EXPECT_THAT(said, HasSubstr("ec2:DescribeInstanceStatus"));
  EXPECT_EQ(provider_->proofs(machine).at(0).words, said);
}

}  // namespace
}  // namespace gpuward::remediator
