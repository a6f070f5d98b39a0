// The end of a machine on AWS, by the real program on the fake API server and on moto: from the
// alert to the replaced node, with the program killed on the way. The test plays the cloud's
// controller, which takes away the Node of an instance that has ended.
#include <gmock/gmock.h>

#include "tests/support/moto.h"
#include "tests/support/require.h"
#include "tests/unit/remediator/fake_hands.h"
#include "tests/unit/remediator/remediation_stage.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

constexpr const char* kAllRights =
    R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:Describe*",)"
    R"("ec2:TerminateInstances","autoscaling:*"],"Resource":"*"}]})";
constexpr const char* kWithoutAutoScaling =
    R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:Describe*",)"
    R"("autoscaling:Describe*"],"Resource":"*"}]})";

class WholeOnAws : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE(support::Moto::why_unavailable());
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
    const auto done = moto_->admin().query({.service = aws::kEc2,
                                            .action = action,
                                            .version = "2016-11-15",
                                            .parameters = std::move(parameters)});
    ASSERT_TRUE(done) << done.error().message;
  }
  void set(const std::string& rights) {
    auto user = moto_->add_user("remediator", rights);
    ASSERT_TRUE(user) << user.error().message;
    stage_ = std::make_unique<RemediationStage>(
        hands_, StageOptions{.plan = "[taint, cordon, drain, wait: {approval: false}, terminate]",
                             .severity = "isolate",
                             .more_policy = "  aws: {terminate: true, cluster: fleet}\n",
                             .provider_id = "aws:///us-east-1a/" + instance_,
                             .environment = *user});
  }
  ::testing::AssertionResult reaches(const std::function<bool()>& is_reached) {
    if (stage_->play_until(is_reached)) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << stage_->phase() << ": " << stage_->message() << "\n"
                                         << stage_->log();
  }
  bool says(const std::string& words) { return stage_->message().find(words) != std::string::npos; }

  FakeHands hands_;
  std::unique_ptr<support::Moto> moto_;
  std::string instance_;
  std::unique_ptr<RemediationStage> stage_;
};

// What AWS says may be of before a call that nobody knows of: it is awaited for 10 minutes before
// the end is asked for again (TerminateActionTest).
TEST_F(WholeOnAws, AwaitsTheAnswerWhereItIsKilledBeforeTheCall) {
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
    return says("it is not known whether the end of its machine was accepted") && says("it runs");
  }));
  EXPECT_EQ(moto_->state_of(instance_), "running");
}

TEST_F(WholeOnAws, ReplacesANodeThroughItsGroupThoughItIsKilledAfterTheCall) {
  set(kAllRights);
  stage_->start();
  ASSERT_TRUE(reaches([&] { return moto_->state_of(instance_) == "terminated"; }));
  stage_->kill_process();
  stage_->start_anew();
  ASSERT_TRUE(reaches([&] { return says("waiting for the Node to go"); }));
  hands_.remove(kStageNodePath);
  ASSERT_TRUE(reaches([&] { return stage_->phase() == "Replaced"; }));

  const auto members = moto_->members_of("gpu");
  ASSERT_EQ(members.size(), 1U);
  EXPECT_NE(members[0], instance_);
  EXPECT_EQ(moto_->state_of(members[0]), "running") << "only the one instance was ended";
  EXPECT_TRUE(reaches([&] { return stage_->slots_held() == 0; }));
  EXPECT_TRUE(stage_->calls().empty()) << "nobody else was asked";
}

TEST_F(WholeOnAws, HoldsACordonedNodeWithAwssOwnWordsWhereItMayNotEndIt) {
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
