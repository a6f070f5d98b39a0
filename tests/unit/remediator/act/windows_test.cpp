// A step that waits for a maintenance window.
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using ::testing::HasSubstr;

class WindowsTest : public ClusterTest {
 protected:
  WindowsTest() {
    // Two hours before the window opens. The startup grace is over.
    const auto tomorrow = std::chrono::ceil<days>(clock_.wall()) + days(1);
    clock_.advance(std::chrono::ceil<milliseconds>(tomorrow + hours(20) - clock_.wall()));
    Policy policy;
    policy.mode = Mode::kFull;
    policy.steps[Severity::kReboot] = {planned(Step::kTaint), planned(Step::kCordon),
                                       planned(Step::kDrain), planned(Step::kVerify)};
    policy.steps[Severity::kReboot][2].before.window = "nights";
    MaintenanceWindow nights;
    nights.name = "nights";
    nights.start = hours(22);
    nights.duration = hours(1);
    policy.windows = {nights};
    policy_.set(policy);
  }
  void go_on() {
    reports_.answer = report_of(Severity::kReboot);
    ASSERT_TRUE(reconcile());
  }
  void annotate(const Json& annotations) {
    kube_.patch(remediation_collection() + "/" + remediation().name,
                {{"metadata", {{"annotations", annotations}}}});
  }
  void approve() {
    const Remediation now = remediation();
    ASSERT_TRUE(now.status.approval);
    annotate({{"gpuward.dev/approved-by", "alice"},
              {"gpuward.dev/approve", now.status.approval->token}});
  }
};

TEST_F(WindowsTest, HoldTheStepUntilTheyOpenAndSayWhenThatIs) {
  ASSERT_TRUE(take({signal()}));
  go_on();
  expect_quarantined();

  go_on();
  EXPECT_EQ(remediation().status.phase, Phase::kWaiting);
  EXPECT_EQ(remediation().status.rule, "wait.window");
  EXPECT_THAT(remediation().status.message, HasSubstr("the window nights, which opens "));
  EXPECT_THAT(remediation().status.message, HasSubstr("T22:00:00Z"));
  EXPECT_LE(*look_.look_again, minutes(1));

  clock_.advance(hours(2));
  go_on();
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

TEST_F(WindowsTest, LetWhatWasBegunGoOnAfterTheirEnd) {
  ASSERT_TRUE(take({signal()}));
  go_on();
  clock_.advance(hours(2) + minutes(59));
  go_on();
  ASSERT_EQ(steps_[Step::kDrain].begun, 1);

  clock_.advance(minutes(30));
  restart();
  go_on();

  EXPECT_EQ(steps_[Step::kDrain].watched, 1);
  EXPECT_EQ(remediation().status.phase, Phase::kDraining);
}

// The policy was changed by code, or an operator removed the window: the time is unknown.
TEST_F(WindowsTest, NeverOpenIfThereIsNoSuch) {
  Policy policy = *policy_.get();
  policy.windows.clear();
  policy_.set(policy);
  ASSERT_TRUE(take({signal()}));
  go_on();

  go_on();

  EXPECT_EQ(remediation().status.rule, "wait.window");
}

// The approval lasts an hour, as any other: it does not wait unseen for the next window.
TEST_F(WindowsTest, LetAnApprovalEndThatCameTooLateForThem) {
  Policy policy = *policy_.get();
  policy.steps[Severity::kReboot][2].before.approval = true;
  policy_.set(policy);
  ASSERT_TRUE(take({signal()}));
  go_on();
  clock_.advance(hours(2) + minutes(50));
  go_on();
  ASSERT_EQ(remediation().status.rule, "guard.approval");

  clock_.advance(minutes(20));
  approve();
  go_on();
  EXPECT_EQ(remediation().status.rule, "wait.window");
  ASSERT_TRUE(remediation().status.approval && remediation().status.approval->seen_at);
  clock_.advance(hours(23));
  go_on();

  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
  EXPECT_EQ(remediation().status.rule, "guard.approval");
}

// Its hour runs while an operator has paused the remediation.
TEST_F(WindowsTest, LetAnApprovalEndThatCameWhileTheStepWasPaused) {
  Policy policy = *policy_.get();
  policy.steps[Severity::kReboot][2].before.approval = true;
  policy_.set(policy);
  ASSERT_TRUE(take({signal()}));
  go_on();
  clock_.advance(hours(2) + minutes(50));
  go_on();
  ASSERT_EQ(remediation().status.rule, "guard.approval");
  annotate({{"gpuward.dev/pause", "true"}});
  go_on();
  ASSERT_EQ(remediation().status.phase, Phase::kPaused);

  approve();
  go_on();
  ASSERT_TRUE(remediation().status.approval && remediation().status.approval->seen_at);
  clock_.advance(hours(24));
  annotate({{"gpuward.dev/pause", nullptr}});
  go_on();
  go_on();

  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
  EXPECT_EQ(remediation().status.rule, "guard.approval");
}

}  // namespace
}  // namespace gpuward::remediator
