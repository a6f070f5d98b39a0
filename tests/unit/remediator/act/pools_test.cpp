// A node follows the policy of its pool, and may move to another one while a step is under way.
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class PoolsOfNodesTest : public ClusterTest {
 protected:
  PoolsOfNodesTest() {
    clock_.advance(minutes(15));  // the startup grace is over
    reports_.answer = report_of(Severity::kReboot);
    Policy policy;
    policy.mode = Mode::kFull;
    policy.steps[Severity::kReboot] = plan("", minutes(10), {Step::kDrain, Step::kVerify});
    policy.pools = {pool("slow", hours(4)), pool("fast", minutes(1))};
    policy.pools.push_back(
        {.name = "quiet", .labels = {"pool=quiet"}, .mode = Mode::kTaint, .steps = {}});
    policy_.set(policy);
  }
  static std::vector<PlannedStep> plan(const std::string& pool, std::chrono::milliseconds deadline,
                                       const std::vector<Step>& steps) {
    std::vector<PlannedStep> plan = {planned(Step::kTaint), planned(Step::kCordon)};
    for (const Step step : steps) {
      plan.push_back(planned(step));
      plan.back().drain.deadline = deadline;
    }
    for (PlannedStep& step : plan) step.pool = pool;
    return plan;
  }
  static PoolPolicy pool(const std::string& name, std::chrono::milliseconds deadline) {
    return {.name = name,
            .labels = {"pool=" + name},
            .mode = {},
            .steps = {{Severity::kReboot, plan(name, deadline, {Step::kDrain, Step::kReboot})}}};
  }
  void put_into(const Json& pool) {
    kube_.patch("/api/v1/nodes/gpu-01", Json{{"metadata", {{"labels", {{"pool", pool}}}}}});
  }
  // Brings the node to a drain that is under way.
  void drain() {
    ASSERT_TRUE(take({signal()}));
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(reconcile());
    ASSERT_EQ(remediation().status.phase, Phase::kDraining);
  }
};

TEST_F(PoolsOfNodesTest, AreWhatANodeIsTreatedBy) {
  put_into("slow");
  drain();

  EXPECT_EQ(steps_[Step::kDrain].step.drain.deadline, hours(4));
  EXPECT_EQ(remediation().status.find(Step::kDrain)->pool, "slow");
  EXPECT_THAT(remediation().status.reasons,
              ::testing::Contains(::testing::HasSubstr("severities.reboot")));
}

TEST_F(PoolsOfNodesTest, LowerTheMode) {
  put_into("quiet");
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());

  EXPECT_TRUE(our_taint_on(node()));
  EXPECT_FALSE(node().unschedulable);
  EXPECT_EQ(remediation().status.mode, Mode::kTaint);
}

// The step keeps its deadline and its place in the plan.
TEST_F(PoolsOfNodesTest, TakeNothingFromAStepThatWasBegunInAnother) {
  put_into("slow");
  drain();

  for (const Json& other : {Json("fast"), Json(nullptr)}) {
    put_into(other);
    restart();
    ASSERT_TRUE(reconcile());
    EXPECT_EQ(steps_[Step::kDrain].step.drain.deadline, hours(4));
  }

  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
  EXPECT_EQ(steps_[Step::kDrain].watched, 2);
}

TEST_F(PoolsOfNodesTest, KeepTheSettingsOfAStepThatWasBegunInNone) {
  drain();

  put_into("fast");
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].step.drain.deadline, minutes(10));
}

TEST_F(PoolsOfNodesTest, GoOnWithWhatComesNextAndDoNothingTwice) {
  put_into("slow");
  drain();

  put_into(nullptr);
  steps_[Step::kDrain].progress =
      StepProgress{.result = StepResult::kDone, .message = "done", .facts = {}, .look_again = {}};
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  EXPECT_EQ(steps_[Step::kVerify].begun, 1);
}

}  // namespace
}  // namespace gpuward::remediator
