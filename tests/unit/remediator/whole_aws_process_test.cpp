// The end of a machine on AWS, by the real program on the fake API server and on moto: from the
// alert to the replaced node, with the program killed on the way. The test plays the cloud's
// controller, which removes the Node of an instance that has ended.
#include <gmock/gmock.h>

#include "tests/fakes/kube_objects.h"
#include "tests/support/aws_front.h"
#include "tests/support/moto.h"
#include "tests/support/require.h"
#include "tests/unit/remediator/act/cloud/shipped_policy.h"
#include "tests/unit/remediator/fake_hands.h"
#include "tests/unit/remediator/remediation_stage.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kEnd = "TerminateInstanceInAutoScalingGroup";
constexpr const char* kMembers = "DescribeAutoScalingInstances";
constexpr const char* kAllRights =
    R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:Describe*",)"
    R"("ec2:TerminateInstances","autoscaling:*"],"Resource":"*"}]})";
constexpr const char* kWithoutAutoScaling =
    R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:Describe*",)"
    R"("autoscaling:Describe*"],"Resource":"*"}]})";

class WholeOnAws : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kAll, support::Moto::why_unavailable());
    auto started = support::Moto::start();
    ASSERT_TRUE(started) << started.error().message;
    moto_ = *std::move(started);
    const auto id = moto_->run_group("gpu");
    ASSERT_TRUE(id) << id.error().message;
    instance_ = *id;
    change("CreateTags", {{"ResourceId.1", instance_},
                          {"Tag.1.Key", "kubernetes.io/cluster/fleet"},
                          {"Tag.1.Value", "owned"}});
  }
  void change(const std::string& action, http::Query parameters) {
    const auto done = moto_->ec2(action, std::move(parameters));
    ASSERT_TRUE(done) << done.error().message;
  }
  void set(const std::string& rights, const std::string& after_the_end = "") {
    auto user = moto_->add_user("remediator", rights);
    ASSERT_TRUE(user) << user.error().message;
    secret_ = user->at("AWS_SECRET_ACCESS_KEY");
    stage_ = std::make_unique<RemediationStage>(
        hands_, StageOptions{.plan = "[taint, cordon, drain, wait: {approval: false}, terminate" +
                                     after_the_end + "]",
                             .severity = "isolate",
                             .more_policy = "  aws: {terminate: true, cluster: fleet}\n",
                             .provider_id = "aws:///us-east-1a/" + instance_,
                             .environment = front_ ? front_->variables(*user) : *user});
  }
  // From here on, requests pass through a front that answers as AWS does and moto does not.
  void put_front() { front_ = std::make_unique<support::AwsFront>(*moto_); }
  ::testing::AssertionResult reaches(const std::function<bool()>& is_reached) {
    if (stage_->play_until(is_reached)) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << stage_->phase() << ": " << stage_->message() << "\n"
                                         << stage_->log();
  }
  bool says(const std::string& words) { return stage_->message().find(words) != std::string::npos; }

  FakeHands hands_;
  std::unique_ptr<support::Moto> moto_;
  std::unique_ptr<support::AwsFront> front_;
  std::string instance_, secret_;
  std::unique_ptr<RemediationStage> stage_;
};

// The answer of AWS may be older than a call without a record. gpuward waits 10 minutes for a newer
// answer before it terminates the machine again (TerminateActionTest).
TEST_F(WholeOnAws, AwaitsTheAnswerIfItIsKilledBeforeTheCall) {
  set(kAllRights);
  moto_->freeze();
  stage_->start();
  ASSERT_TRUE(reaches([&] { return !stage_->step("terminate").is_null(); }));
  stage_->kill_process();
  moto_->thaw();
  EXPECT_EQ(moto_->state_of(instance_), "running");
  EXPECT_TRUE(stage_->is_cordoned());
  EXPECT_TRUE(stage_->pods().empty());

  stage_->start_anew();

  EXPECT_TRUE(reaches([&] {
    return says("cannot tell whether the termination of the machine was accepted") &&
           says("the provider has reported that it is running");
  }));
  EXPECT_EQ(moto_->state_of(instance_), "running");
}

TEST_F(WholeOnAws, ReplacesANodeThroughItsGroupThoughItIsKilledAfterTheCall) {
  set(kAllRights);
  stage_->start();
  ASSERT_TRUE(reaches([&] { return moto_->state_of(instance_) == "terminated"; }));
  stage_->kill_process();
  stage_->start_anew();
  ASSERT_TRUE(reaches([&] { return says("waiting for the Node to be deleted"); }));
  hands_.remove(kStageNodePath);
  ASSERT_TRUE(reaches([&] { return stage_->phase() == "Replaced"; }));

  const auto members = moto_->members_of("gpu");
  ASSERT_EQ(members.size(), 1U);
  EXPECT_NE(members[0], instance_);
  EXPECT_EQ(moto_->state_of(members[0]), "running") << "only the one instance was ended";
  EXPECT_TRUE(reaches([&] { return stage_->slots_held() == 0; }));
  EXPECT_TRUE(stage_->calls().empty()) << "nobody else was asked";
}

TEST_F(WholeOnAws, WaitsForTheHookOfTheGroupAndForItsNewMemberThoughItIsKilledMeanwhile) {
  const auto hook = moto_->auto_scaling(
      "PutLifecycleHook", {{"AutoScalingGroupName", "gpu"},
                           {"LifecycleHookName", "collect-logs"},
                           {"LifecycleTransition", "autoscaling:EC2_INSTANCE_TERMINATING"}});
  ASSERT_TRUE(hook) << hook.error().message;
  put_front();
  set(kAllRights, ", verify: {soak: 0s}");
  stage_->start();
  const auto waits = [&] {
    return says(
        "waiting for the machine to terminate: Auto Scaling group gpu reports the instance in "
        "lifecycle state Terminating:Wait");
  };
  ASSERT_TRUE(reaches(waits));
  stage_->kill_process();
  const int looks = front_->asked(kMembers);
  stage_->start_anew();
  ASSERT_TRUE(reaches([&] { return front_->asked(kMembers) > looks; }));
  EXPECT_TRUE(waits());
  EXPECT_EQ(moto_->state_of(instance_), "running");
  stage_->kill_process();

  front_->complete_hook(instance_);
  stage_->start_anew();  // looks at once
  ASSERT_TRUE(reaches([&] { return says("waiting for the Node to be deleted"); }));
  const auto members = moto_->members_of("gpu");
  ASSERT_EQ(members.size(), 1U);
  Json node = fakes::ready_node("gpu-02");
  node["spec"]["providerID"] = "aws:///us-east-1a/" + members[0];
  node["status"]["nodeInfo"]["bootID"] = "boot-gpu-01";  // the boot ID in the reports of all nodes
  hands_.create("/api/v1/nodes", node);
  stage_->report_severity(0);
  hands_.remove(kStageNodePath);
  ASSERT_TRUE(reaches([&] { return stage_->phase() == "Replaced"; }));
  EXPECT_TRUE(says("replaced by node gpu-02"));
  EXPECT_EQ(front_->asked(kEnd), 1);
}

TEST_F(WholeOnAws, EndsTheMachineOnceThoughItIsThrottledTheAnswerIsLostAndItIsKilled) {
  put_front();
  set(kAllRights);
  front_->refuse(kEnd, {400, "Throttling", "Rate exceeded"}, 2);
  front_->lose_answer(kEnd);
  stage_->start();
  ASSERT_TRUE(reaches([&] {
    return says("cannot tell whether the termination of the machine was accepted") ||
           says("waiting for the Node to be deleted");
  }));
  stage_->kill_process();
  stage_->start_anew();  // looks at once
  ASSERT_TRUE(reaches([&] { return says("waiting for the Node to be deleted"); }));
  EXPECT_EQ(front_->carried_out(kEnd), 1);
  EXPECT_EQ(front_->asked(kEnd), 3);
  EXPECT_EQ(moto_->members_of("gpu").size(), 1U);
}

// The instance has the tag, but its group does not.
TEST_F(WholeOnAws, NamesTheRightThatTheConditionOfTheShippedPolicyTakesAwayAndNoSecret) {
  put_front();
  front_->enforce(shipped_policy("fleet"));
  set(kAllRights);
  stage_->start();
  ASSERT_TRUE(reaches([&] { return stage_->phase() == "Held"; }));
  EXPECT_THAT(stage_->message(),
              HasSubstr(std::string("AWS does not allow autoscaling:") + kEnd +
                        " for the Auto Scaling group of instance " + instance_ +
                        "; the role needs manifests/remediator-aws-iam.json, which requires the "
                        "tag kubernetes.io/cluster/fleet=owned: "));
  for (const std::string& text : {stage_->message(), stage_->log()}) {
    EXPECT_THAT(text, Not(HasSubstr(secret_)));
    EXPECT_THAT(text, Not(HasSubstr("Encoded authorization")));
  }
  EXPECT_EQ(moto_->state_of(instance_), "running");
}

TEST_F(WholeOnAws, HoldsACordonedNodeWithAwssOwnWordsIfItMayNotEndIt) {
  set(kWithoutAutoScaling);
  stage_->start();
  ASSERT_TRUE(reaches([&] { return stage_->phase() == "Held"; }));
  EXPECT_THAT(stage_->message(), HasSubstr("is not authorized to perform: "
                                           "autoscaling:TerminateInstanceInAutoScalingGroup"));
  EXPECT_TRUE(stage_->is_cordoned());
  EXPECT_EQ(moto_->state_of(instance_), "running");
}

TEST_F(WholeOnAws, HoldsACordonedNodeWhoseInstanceIsProtected) {
  change("ModifyInstanceAttribute",
         {{"InstanceId", instance_}, {"DisableApiTermination.Value", "true"}});
  set(kAllRights);
  stage_->start();
  ASSERT_TRUE(reaches([&] { return stage_->phase() == "Held"; }));
  EXPECT_THAT(stage_->message(), HasSubstr("has termination protection"));
  EXPECT_TRUE(stage_->is_cordoned());
  EXPECT_EQ(moto_->state_of(instance_), "running");
}

}  // namespace
}  // namespace gpuward::remediator
