#include "remediator/act/milestones.h"

#include <vector>

#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class MilestonesTest : public ClusterTest {
 protected:
  std::vector<std::pair<Milestone, double>>& told() { return replica_->recorder.milestones; }
};

TEST_F(MilestonesTest, AreToldWithTheTimeSinceTheAlertFired) {
  clock_.advance(minutes(1));  // the node is older than the alert
  AlertSignal fired = signal();
  fired.starts_at = clock_.wall() - seconds(30);
  ASSERT_TRUE(take({fired}));
  clock_.advance(seconds(10));
  ASSERT_TRUE(reconcile());

  EXPECT_THAT(told(), ElementsAre(Pair(Milestone::kAccepted, 30), Pair(Milestone::kTainted, 40),
                                  Pair(Milestone::kCordoned, 40)));
}

TEST_F(MilestonesTest, AreNotToldAgainByAnotherProcessOrAWorseAlert) {
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());
  restart();
  AlertSignal worse = signal(Severity::kIsolate);
  worse.fingerprint = "cd";
  ASSERT_TRUE(take({worse}));
  ASSERT_TRUE(reconcile());

  ASSERT_EQ(our_taint_on(node()), "isolate");
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(remediation().status.reached,
              UnorderedElementsAre(Key(Milestone::kAccepted), Key(Milestone::kTainted),
                                   Key(Milestone::kCordoned)));
}

TEST_F(MilestonesTest, AreNotToldBeforeTheyAreInTheApiServer) {
  ASSERT_TRUE(take({signal()}));
  kube_.add_fault({.kind = fakes::FaultKind::kConflict, .method = "PUT", .path = ".*/status"});
  EXPECT_FALSE(reconcile(1));

  EXPECT_THAT(told(), IsEmpty());
}

TEST(Milestones, AreDrainedActedAndRecoveredByTheirSteps) {
  Remediation remediation;
  const WallTime now(minutes(100));
  remediation.alerts.push_back(
      {"Bad", "ab", Severity::kReboot, WallTime(minutes(90)), WallTime(minutes(91)), {}});
  RemediationStatus next;
  for (const Step step : {Step::kDrain, Step::kReboot, Step::kVerify, Step::kReturn}) {
    StepRecord& record = next.steps.emplace_back();
    record.step = step;
    record.result = StepResult::kDone;
    record.finished_at = now + minutes(static_cast<int>(step));
  }
  StepRecord& failed = next.steps.emplace_back();
  failed.step = Step::kGpuReset;
  failed.result = StepResult::kFailed;

  EXPECT_THAT(
      with_milestones(remediation, next, now).reached,
      ElementsAre(Pair(Milestone::kAccepted, WallTime(minutes(91))),
                  Pair(Milestone::kDrained, now + minutes(static_cast<int>(Step::kDrain))),
                  Pair(Milestone::kActed, now + minutes(static_cast<int>(Step::kReboot))),
                  Pair(Milestone::kRecovered, now + minutes(static_cast<int>(Step::kReturn)))));
}

TEST(Milestones, AreRecoveredIfAReplacementHasJoined) {
  RemediationStatus next;
  next.steps.resize(2);
  next.steps[0].step = Step::kTerminate;
  next.steps[1].step = Step::kVerify;
  next.steps[1].result = StepResult::kDone;
  next.steps[1].finished_at = WallTime(minutes(9));
  EXPECT_THAT(with_milestones({}, next, {}).reached, IsEmpty()) << "it is about the same node";

  next.steps[0].result = StepResult::kDone;

  EXPECT_THAT(with_milestones({}, next, {}).reached,
              ::testing::Contains(Pair(Milestone::kRecovered, WallTime(minutes(9)))));
}

TEST(Milestones, AreNeverBeforeTheFault) {
  Remediation remediation;
  remediation.alerts.push_back(
      {"Bad", "ab", Severity::kReboot, WallTime(minutes(9)), WallTime(minutes(8)), {}});
  remediation.status = with_milestones(remediation, {}, WallTime(minutes(8)));
  RecordingObserver recorder;

  report_milestones({}, remediation, recorder);

  EXPECT_THAT(recorder.milestones, ElementsAre(Pair(Milestone::kAccepted, 0)));
}

TEST(Milestones, AreNotToldWithoutAnAlert) {
  Remediation remediation;
  remediation.status.reached = {{Milestone::kTainted, WallTime(minutes(8))}};
  RecordingObserver recorder;

  report_milestones({}, remediation, recorder);

  EXPECT_THAT(recorder.milestones, IsEmpty());
}

}  // namespace
}  // namespace gpuward::remediator
