// The recovery of a node that gpuward would otherwise hold for an operator: which nodes may take
// it, what each of its steps needs, and what keeps the node out of service.
#include "remediator/act/actions/step_progress.h"
#include "remediator/model/diagnostics.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class RecoveryTest : public ClusterTest {
 protected:
  RecoveryTest() {
    clock_.advance(minutes(15));  // the startup grace is over
    policy.mode = Mode::kFull;
    policy.steps[Severity::kIsolate] = {planned(Step::kTaint), planned(Step::kCordon),
                                        planned(Step::kDrain)};
    policy.recovery[Severity::kIsolate] = {planned(Step::kQuarantineJob), planned(Step::kVerify),
                                           planned(Step::kReturn)};
    policy_.set(policy);
    reports_.answer = report_of(Severity::kIsolate);
    steps_[Step::kQuarantineJob].adds = {{kJobBootFact, "boot-gpu-01"}};
  }
  void go_on(int looks = 1) {
    for (int i = 0; i < looks; ++i) ASSERT_TRUE(reconcile());
  }
  void expect_held(const std::string& says) {
    go_on(2);
    EXPECT_EQ(remediation().status.phase, Phase::kHeld);
    EXPECT_THAT(remediation().status.message, HasSubstr(says));
    EXPECT_TRUE(node().unschedulable);
    EXPECT_TRUE(our_taint_on(node()));
  }
  // Finishes the severity's own steps. The next look decides about the recovery.
  void exhaust() {
    end(Step::kDrain);
    ASSERT_TRUE(take({signal(Severity::kIsolate)}));
    go_on(2);
    ASSERT_TRUE(remediation().status.has_done(Step::kDrain));
  }
  // The diagnostic fails in the recovery of the milder severity. The steps of the worse one are
  // next.
  void fail_diagnostic_at_reset() {
    policy.steps[Severity::kReset] = {planned(Step::kTaint), planned(Step::kCordon),
                                      planned(Step::kDrain)};
    policy.recovery[Severity::kReset] = policy.recovery[Severity::kIsolate];
    policy.recovery.erase(Severity::kIsolate);
    policy_.set(policy);
    reports_.answer = report_of(Severity::kReset);
    end(Step::kDrain);
    end(Step::kQuarantineJob, StepResult::kFailed);
    ASSERT_TRUE(take({signal(Severity::kReset)}));
    go_on(4);
    ASSERT_EQ(remediation().status.phase, Phase::kHeld);
    reports_.answer = report_of(Severity::kIsolate);
  }
  void end_alert() {
    ASSERT_TRUE(take({signal(Severity::kIsolate, false)}));
    clock_.advance(minutes(1));
    reports_.answer = report_of(Severity::kNone);
  }
  void pass_until_return() {
    exhaust();
    end(Step::kQuarantineJob);
    go_on(1);
    end_alert();
    end(Step::kVerify);
    go_on(1);
    ASSERT_TRUE(remediation().status.has_done(Step::kVerify));
  }

  Policy policy;
};

TEST_F(RecoveryTest, ANodeThatPassesItsDiagnosticsAndIsVerifiedReturnsWithoutAHuman) {
  exhaust();
  go_on();
  EXPECT_EQ(remediation().status.phase, Phase::kTesting);
  EXPECT_THAT(remediation().status.reasons,
              Contains(HasSubstr("recovery.isolate: quarantine-job, verify, return-to-service")));
  end(Step::kQuarantineJob);
  go_on();
  end_alert();
  go_on();
  EXPECT_EQ(remediation().status.phase, Phase::kVerifying);
  EXPECT_TRUE(node().unschedulable);
  end(Step::kVerify);
  go_on(3);

  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
  EXPECT_FALSE(node().unschedulable);
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_EQ(steps_[Step::kQuarantineJob].begun, 1);
  EXPECT_TRUE(replica_->announcer.told.empty());
}

TEST_F(RecoveryTest, WithoutItAHumanIsAsked) {
  policy.recovery.clear();
  policy_.set(policy);
  exhaust();

  expect_held(
      "the policy's steps are done: held for an operator. To return the node to service: "
      "gpuwardctl cancel gpu-01");
  EXPECT_EQ(steps_[Step::kQuarantineJob].begun, 0);
}

TEST_F(RecoveryTest, ANodeThatFailsItsDiagnosticStaysHeldAndIsNotTestedAgain) {
  exhaust();
  end(Step::kQuarantineJob, StepResult::kFailed);
  go_on();

  expect_held("not returned: quarantine-job failed: so it ended");
  EXPECT_EQ(steps_[Step::kQuarantineJob].begun, 1);
  EXPECT_FALSE(replica_->announcer.told.empty());
}

// The alerts end before the steps of the worse severity. A healthy report says less than the
// diagnostic.
TEST_F(RecoveryTest, ANodeThatHasFailedItsDiagnosticIsNotReturnedIfWorseAlertsEnd) {
  policy.steps[Severity::kIsolate].back().before.approval = true;
  fail_diagnostic_at_reset();
  ASSERT_TRUE(take({signal(Severity::kIsolate)}));
  go_on(2);
  ASSERT_EQ(remediation().status.rule, "guard.approval");
  ASSERT_TRUE(take({signal(Severity::kReset, false)}));
  end_alert();

  expect_held("the alerts ended, but quarantine-job failed: so it ended");
}

// If each end counted, the next step, which waits, would continue, and gpuward would hold the node
// again.
TEST_F(RecoveryTest, ANodeThatHasFailedItsDiagnosticIsHeldOnceHoweverOftenItsAlertEnds) {
  policy.steps[Severity::kIsolate].back().before.window = "which there is not";
  fail_diagnostic_at_reset();
  const AlertSignal worse = signal(Severity::kIsolate);
  ASSERT_TRUE(take({worse}));
  ASSERT_TRUE(take({signal(Severity::kIsolate, false)}));
  clock_.advance(minutes(6));
  ASSERT_TRUE(take({worse}));
  ASSERT_TRUE(remediation().alerts.back().contested);
  go_on(2);
  ASSERT_EQ(remediation().status.rule, "wait.window");
  end_alert();
  expect_held("the alerts ended, but quarantine-job failed");
  const auto told = replica_->announcer.told.size();

  for (int look = 0; look < 4; ++look) expect_held("quarantine-job failed");
  EXPECT_EQ(replica_->announcer.told.size(), told);
}

// A failure at a milder severity counts too.
TEST_F(RecoveryTest, ADiagnosticThatHasFailedBeforeTheEscalationCountsToo) {
  policy.steps[Severity::kReboot] = {planned(Step::kTaint), planned(Step::kCordon),
                                     planned(Step::kDrain), planned(Step::kQuarantineJob)};
  policy_.set(policy);
  reports_.answer = report_of(Severity::kReboot);
  end(Step::kDrain);
  end(Step::kQuarantineJob, StepResult::kFailed);
  ASSERT_TRUE(take({signal(Severity::kReboot)}));
  go_on(8);

  expect_held("not returned: quarantine-job failed");
  EXPECT_EQ(steps_[Step::kQuarantineJob].begun, 1);
}

TEST_F(RecoveryTest, ANodeWhoseReportStaysBadIsNotReturned) {
  exhaust();
  end(Step::kQuarantineJob);
  go_on();
  end(Step::kVerify, StepResult::kFailed);
  go_on();

  expect_held("not returned: verify failed");
}

TEST_F(RecoveryTest, TheReportIsAskedAgainRightBeforeTheReturn) {
  for (const auto& [report, says] :
       {std::pair(report_of(Severity::kReset), "still has severity reset"),
        std::pair(report_of(Severity::kNone, "boot-other"), "another boot")}) {
    SCOPED_TRACE(says);
    if (remediations().empty()) pass_until_return();
    reports_.answer = report;
    reports_.answer->measured_at = clock_.wall();
    expect_held(says);
  }
  reports_.answer = report_of(Severity::kNone);
  clock_.advance(minutes(5));
  expect_held("too old");

  reports_.answer = report_of(Severity::kNone);
  go_on(2);
  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
}

TEST_F(RecoveryTest, AnAlertThatFiresAgainKeepsTheNode) {
  pass_until_return();
  ASSERT_TRUE(take({signal(Severity::kIsolate)}));

  expect_held("an alert is firing");
}

TEST_F(RecoveryTest, ADiagnosticThatHasPassedInAnotherBootReturnsNothing) {
  exhaust();
  end(Step::kQuarantineJob);
  steps_[Step::kQuarantineJob].adds = {{kJobBootFact, "boot-before"}};
  go_on();

  expect_held("quarantine-job passed in another boot");
  EXPECT_EQ(steps_[Step::kVerify].begun, 0);
}

TEST_F(RecoveryTest, ANodeThatSomebodyElseHadCordonedStaysHis) {
  kube_.patch("/api/v1/nodes/gpu-01", {{"spec", {{"unschedulable", true}}}});
  exhaust();

  expect_held("not returned: the node was already cordoned by another controller");
  EXPECT_EQ(steps_[Step::kQuarantineJob].begun, 0);
}

TEST_F(RecoveryTest, ANodeThatIsNotDrainedIsNotTested) {
  end(Step::kDrain, StepResult::kFailed);
  ASSERT_TRUE(take({signal(Severity::kIsolate)}));
  go_on(2);

  expect_held("not returned: the node is not drained");
  EXPECT_EQ(steps_[Step::kQuarantineJob].begun, 0);
}

TEST_F(RecoveryTest, AMachineWhoseRestartHasFailedDoesNotComeBackByItself) {
  policy.steps[Severity::kReboot] = {planned(Step::kTaint), planned(Step::kCordon),
                                     planned(Step::kDrain), planned(Step::kReboot)};
  policy_.set(policy);
  reports_.answer = report_of(Severity::kReboot);
  end(Step::kDrain);
  end(Step::kReboot, StepResult::kFailed);
  steps_[Step::kReboot].adds = {{kCallFact, "accepted"}};
  ASSERT_TRUE(take({signal(Severity::kReboot)}));
  go_on(8);

  expect_held("not returned: reboot failed");
  EXPECT_EQ(steps_[Step::kQuarantineJob].begun, 0);
}

TEST_F(RecoveryTest, PauseExclusionAndCancelComeFirst) {
  exhaust();
  policy.excluded.nodes = {"gpu-01"};
  policy_.set(policy);
  go_on();
  EXPECT_EQ(remediation().status.rule, "excluded");
  policy.excluded.nodes.clear();
  policy_.set(policy);
  const std::string path = "/apis/gpuward.dev/v1alpha1/remediations/" + remediation().name;
  kube_.patch(path, {{"metadata", {{"annotations", {{"gpuward.dev/pause", "true"}}}}}});
  go_on();
  EXPECT_EQ(remediation().status.phase, Phase::kPaused);
  kube_.patch(path, {{"metadata", {{"annotations", {{"gpuward.dev/cancel", "true"}}}}}});
  go_on(2);

  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  EXPECT_EQ(steps_[Step::kQuarantineJob].begun, 0);
}

TEST_F(RecoveryTest, WaitsAsAnyStepDoesAndNeedsModeFull) {
  policy.recovery[Severity::kIsolate][0].before.approval = true;
  policy_.set(policy);
  exhaust();
  go_on();
  EXPECT_EQ(remediation().status.rule, "guard.approval");
  EXPECT_EQ(steps_[Step::kQuarantineJob].begun, 0);

  policy.recovery[Severity::kIsolate][0].before.approval = false;
  policy.mode = Mode::kCordon;
  policy_.set(policy);
  go_on();
  EXPECT_EQ(steps_[Step::kQuarantineJob].begun, 0);
}

TEST_F(RecoveryTest, AReturnWaitsForItsYesAndThenForTheReport) {
  policy.recovery[Severity::kIsolate].back().before.approval = true;
  policy_.set(policy);
  pass_until_return();
  go_on();
  ASSERT_EQ(remediation().status.rule, "guard.approval");
  ASSERT_TRUE(remediation().status.approval);
  const std::string path = "/apis/gpuward.dev/v1alpha1/remediations/" + remediation().name;
  kube_.patch(path, {{"metadata",
                      {{"annotations",
                        {{"gpuward.dev/approve", remediation().status.approval->token},
                         {"gpuward.dev/approved-by", "alice"}}}}}});
  reports_.answer = report_of(Severity::kReset);
  expect_held("still has severity reset");

  reports_.answer = report_of(Severity::kNone);
  go_on(2);
  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
}

// A crash loses nothing: the Job continues with the settings of the recovery, even if the steps of
// the severity have a verification with other settings.
TEST_F(RecoveryTest, GoesOnAfterACrashWithItsOwnSettings) {
  policy.steps[Severity::kIsolate].push_back(planned(Step::kVerify));
  auto& back = policy.recovery[Severity::kIsolate];
  back[0].job.min_bus_bandwidth = 123;
  back[1].soak = minutes(33);
  policy_.set(policy);
  end(Step::kVerify, StepResult::kFailed);
  exhaust();
  go_on();
  EXPECT_EQ(steps_[Step::kVerify].step.soak, planned(Step::kVerify).soak);
  steps_[Step::kVerify].progress = StepProgress{};
  EXPECT_EQ(steps_[Step::kQuarantineJob].begun, 0);
  clock_.advance(minutes(1));
  restart();
  go_on();
  EXPECT_EQ(steps_[Step::kQuarantineJob].begun, 1);
  restart();
  end(Step::kQuarantineJob);
  go_on();
  EXPECT_EQ(steps_[Step::kQuarantineJob].step.job.min_bus_bandwidth, 123);
  go_on();
  restart();
  go_on();

  EXPECT_EQ(steps_[Step::kVerify].begun, 2);
  EXPECT_GT(steps_[Step::kVerify].watched, 0);
  EXPECT_EQ(steps_[Step::kVerify].step.soak, minutes(33));
}

TEST_F(RecoveryTest, WorseEvidenceLeavesIt) {
  policy.steps[Severity::kReset] = policy.steps[Severity::kIsolate];
  policy.recovery[Severity::kReset] = policy.recovery[Severity::kIsolate];
  policy.recovery.erase(Severity::kIsolate);
  policy_.set(policy);
  end(Step::kDrain);
  steps_[Step::kDrain].progress->message = "drained";
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  go_on(3);
  ASSERT_EQ(remediation().status.phase, Phase::kTesting);
  ASSERT_TRUE(take({signal(Severity::kIsolate)}));
  go_on(3);

  EXPECT_GT(steps_[Step::kQuarantineJob].abandoned, 0);
  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
}

}  // namespace
}  // namespace gpuward::remediator
