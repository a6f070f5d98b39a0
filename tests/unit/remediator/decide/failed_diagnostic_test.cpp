// A node that has failed a diagnostic: which steps bring it back, and which do not.
#include "remediator/model/announced.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/step_call.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;

class FailedDiagnostic : public ClusterTest {
 protected:
  FailedDiagnostic() {
    clock_.advance(minutes(15));  // the startup grace is over
    policy.mode = Mode::kFull;
    policy.steps.clear();
    steps_[Step::kQuarantineJob].more_before = {{kJobBootFact, "boot-gpu-01"}};
    steps_[Step::kQuarantineJob].adds = {{kHasRunFact, "true"}};
    for (const Step step : {Step::kDrain, Step::kGpuReset, Step::kReboot, Step::kVerify}) end(step);
  }
  void plan(Severity severity, const std::vector<Step>& then) {
    policy.steps[severity] = {planned(Step::kTaint), planned(Step::kCordon), planned(Step::kDrain)};
    for (const Step step : then) policy.steps[severity].push_back(planned(step));
    policy_.set(policy);
  }
  void go_on(int looks) {
    for (int i = 0; i < looks; ++i) {
      clock_.advance(minutes(1));
      if (reports_.answer) reports_.answer->measured_at = clock_.wall();
      ASSERT_TRUE(reconcile());
    }
  }
  // Fails the diagnostic after the steps `first`, at severity reset.
  void fail_after(std::vector<Step> first = {}) {
    first.push_back(Step::kQuarantineJob);
    plan(Severity::kReset, first);
    end(Step::kQuarantineJob, StepResult::kFailed);
    reports_.answer = report_of(Severity::kReset);
    ASSERT_TRUE(take({signal(Severity::kReset)}));
    go_on(5);
    ASSERT_EQ(remediation().status.phase, Phase::kHeld) << remediation().status.message;
  }
  // A worse alert fires, the steps `then` treat it, and it ends.
  void return_after(std::vector<Step> then, const std::string& boot_id = "boot-gpu-01") {
    return_after(std::move(then), boot_id, boot_id);
  }
  // The node ends in boot `boot_id`, and its last report is of boot `reported`.
  void return_after(std::vector<Step> then, const std::string& boot_id,
                    const std::string& reported) {
    then.push_back(Step::kVerify);
    then.push_back(Step::kReturn);
    plan(Severity::kIsolate, then);
    end(Step::kVerify, StepResult::kRunning);
    reports_.answer = report_of(Severity::kIsolate);
    ASSERT_TRUE(take({signal(Severity::kIsolate)}));
    go_on(static_cast<int>(then.size()) + 2);
    alerts_end();
    end(Step::kVerify);
    kube_.patch("/api/v1/nodes/gpu-01/status", {{"status", {{"nodeInfo", {{"bootID", boot_id}}}}}});
    reports_.answer->boot_id = reported;
    go_on(4);
    ASSERT_TRUE(remediation().status.has_done(Step::kVerify)) << remediation().status.message;
  }
  // The diagnostic's Job fails, but gpuward no longer looks at it, because a worse alert fires.
  // That alert soon ends.
  void get_worse_under_it(Step diagnostic = Step::kQuarantineJob) {
    policy.return_to_service.enabled = true;
    plan(Severity::kReset, {diagnostic});
    end(diagnostic, StepResult::kRunning);
    reports_.answer = report_of(Severity::kReset);
    ASSERT_TRUE(take({signal(Severity::kReset)}));
    go_on(4);
    ASSERT_EQ(remediation().status.phase, Phase::kTesting);
    plan(Severity::kIsolate, {Step::kReboot});
    policy.steps[Severity::kIsolate].back().before.approval = true;
    policy_.set(policy);
    end(diagnostic, StepResult::kFailed);
    looks_before_ = steps_[diagnostic].watched;
    reports_.answer = report_of(Severity::kIsolate);
    ASSERT_TRUE(take({signal(Severity::kIsolate)}));
    go_on(4);
    ASSERT_EQ(remediation().status.rule, "guard.approval");
    alerts_end();
    go_on(4);
  }
  void alerts_end() {
    for (const Severity severity : {Severity::kReset, Severity::kReboot, Severity::kIsolate})
      ASSERT_TRUE(take({signal(severity, false)}));
    clock_.advance(minutes(1));
    reports_.answer = report_of(Severity::kNone);
  }
  void expect_held(const std::string& says) {
    EXPECT_EQ(remediation().status.phase, Phase::kHeld);
    EXPECT_THAT(remediation().status.message, HasSubstr(says));
    EXPECT_TRUE(node().unschedulable);
  }
  void expect_returned() {
    EXPECT_EQ(remediation().status.phase, Phase::kReleased) << remediation().status.message;
    EXPECT_FALSE(node().unschedulable);
  }

  Policy policy;
  int looks_before_ = 0;
};

TEST_F(FailedDiagnostic, IsNotOutweighedByStepsThatDoNothingToTheMachine) {
  fail_after();
  return_after({});
  expect_held("quarantine-job failed: so it ended, and no restart or reset");
}

TEST_F(FailedDiagnostic, IsNotOutweighedByAResetThatCameBeforeIt) {
  fail_after({Step::kGpuReset});
  return_after({});
  expect_held("quarantine-job failed: so it ended, and no restart or reset");
}

TEST_F(FailedDiagnostic, IsNotOutweighedByAnEarlierResetAfterTheClockHasGoneBack) {
  plan(Severity::kReset, {Step::kGpuReset, Step::kQuarantineJob});
  end(Step::kQuarantineJob, StepResult::kRunning);
  reports_.answer = report_of(Severity::kReset);
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  go_on(5);
  ASSERT_EQ(remediation().status.phase, Phase::kTesting) << remediation().status.message;
  clock_.jump_wall(-std::chrono::hours(3));
  end(Step::kQuarantineJob, StepResult::kFailed);
  go_on(3);
  ASSERT_EQ(remediation().status.phase, Phase::kHeld) << remediation().status.message;

  EXPECT_NE(untreated_diagnostic(remediation(), "boot-gpu-01"), nullptr);

  // A reboot that began without effect does not turn the earlier reset into a treatment.
  Remediation worse = remediation();
  StepRecord& reboot = worse.status.steps.emplace_back();
  reboot.step = Step::kReboot;
  reboot.result = StepResult::kFailed;
  reboot.severity = Severity::kReboot;
  reboot.attempts = 1;
  EXPECT_NE(untreated_diagnostic(worse, "boot-gpu-01"), nullptr);
  reboot.result = StepResult::kDone;
  EXPECT_EQ(untreated_diagnostic(worse, "boot-gpu-01"), nullptr);
}

TEST_F(FailedDiagnostic, IsOverAfterAReset) {
  fail_after();
  return_after({Step::kGpuReset});
  expect_returned();
}

TEST_F(FailedDiagnostic, IsNotOverAfterAResetThatFailed) {
  fail_after();
  plan(Severity::kReboot, {Step::kGpuReset});
  end(Step::kGpuReset, StepResult::kFailed);
  reports_.answer = report_of(Severity::kReboot);
  ASSERT_TRUE(take({signal(Severity::kReboot)}));
  go_on(3);
  return_after({});
  expect_held("quarantine-job failed");
}

TEST_F(FailedDiagnostic, IsOverAfterAReboot) {
  fail_after();
  return_after({Step::kReboot});
  expect_returned();
}

TEST_F(FailedDiagnostic, IsOverAfterARestartThatNobodyHereAskedFor) {
  fail_after();
  return_after({}, "boot-after-it");
  expect_returned();
}

// An operator is at work on the node.
TEST_F(FailedDiagnostic, IsNotOverIfTheMachineIsRestartedWhileTheNodeIsHeld) {
  fail_after();
  return_after({});
  expect_held("quarantine-job failed");
  kube_.patch("/api/v1/nodes/gpu-01/status", {{"status", {{"nodeInfo", {{"bootID", "next"}}}}}});
  reports_.answer->boot_id = "next";
  go_on(3);
  expect_held("quarantine-job failed");
}

// The verification was of the earlier boot.
TEST_F(FailedDiagnostic, IsOverAfterARestartOnlyByAReportOfThatBoot) {
  fail_after();
  return_after({Step::kReboot}, "boot-after-it", "boot-gpu-01");
  EXPECT_TRUE(node().unschedulable);
  EXPECT_THAT(remediation().status.message, HasSubstr("return-to-service waits"));
  reports_.answer = report_of(Severity::kNone, "boot-after-it");
  go_on(2);
  expect_returned();
}

// A machine that panics under the diagnostic is in the next boot before gpuward reads the failure.
TEST_F(FailedDiagnostic, CountsInTheBootThatItWasFoundIn) {
  steps_[Step::kQuarantineJob].adds[kFailedBootFact] = "boot-after-it";
  fail_after();
  return_after({}, "boot-after-it");
  expect_held("quarantine-job failed");
}

TEST_F(FailedDiagnostic, ThatWasNeverRunIsForgottenByALaterRunThatPasses) {
  steps_[Step::kQuarantineJob].adds.clear();
  fail_after();
  end(Step::kQuarantineJob);
  return_after({Step::kQuarantineJob});
  expect_returned();
}

// Flaky hardware passes now and then.
TEST_F(FailedDiagnostic, IsNotOutweighedByALaterRunThatPasses) {
  fail_after();
  end(Step::kQuarantineJob);
  return_after({Step::kQuarantineJob});
  ASSERT_EQ(steps_[Step::kQuarantineJob].begun, 2);
  expect_held("quarantine-job failed at ");
}

TEST_F(FailedDiagnostic, IsForgottenByALaterRunThatPassesAfterAReset) {
  fail_after();
  end(Step::kQuarantineJob);
  return_after({Step::kGpuReset, Step::kQuarantineJob});
  expect_returned();
}

TEST_F(FailedDiagnostic, IsNotForgottenIfItsNextRunWasNeverBegun) {
  fail_after();
  steps_[Step::kQuarantineJob].progress = StepProgress{
      .result = StepResult::kIntended, .message = "no lease", .facts = {}, .look_again = {}};
  plan(Severity::kReboot, {Step::kQuarantineJob});
  reports_.answer = report_of(Severity::kReboot);
  ASSERT_TRUE(take({signal(Severity::kReboot)}));
  go_on(4);
  ASSERT_GT(steps_[Step::kQuarantineJob].begun, 1);
  return_after({});
  expect_held("quarantine-job failed");
}

// The next Job may lack an image, for example. The earlier run said something about the machine,
// this one does not.
TEST_F(FailedDiagnostic, IsNotForgottenIfItsNextRunCouldNotBeStarted) {
  fail_after();
  steps_[Step::kQuarantineJob].adds.clear();
  plan(Severity::kReboot, {Step::kQuarantineJob});
  reports_.answer = report_of(Severity::kReboot);
  ASSERT_TRUE(take({signal(Severity::kReboot)}));
  go_on(4);
  ASSERT_EQ(steps_[Step::kQuarantineJob].begun, 2);
  EXPECT_TRUE(has_failed_in(remediation(), "boot-gpu-01"));
  EXPECT_THAT(remediation().status.message, HasSubstr(", and then: so it ended"));
}

// The worse severity leaves the Job and deletes it. gpuward reads its result first.
TEST_F(FailedDiagnostic, CountsIfItFailedWhileTheNodeGotWorse) {
  steps_[Step::kQuarantineJob].adds[kCallFact] = "none";
  get_worse_under_it();
  expect_held("quarantine-job failed: so it ended");
  EXPECT_GT(steps_[Step::kQuarantineJob].abandoned, 0) << "its Job is deleted all the same";
}

// A look would make Jobs, on other nodes too.
TEST_F(FailedDiagnostic, OfSeveralNodesIsNotLookedAtIfTheNodeGotWorse) {
  get_worse_under_it(Step::kNcclPairs);
  EXPECT_EQ(steps_[Step::kNcclPairs].watched, looks_before_);
}

TEST_F(FailedDiagnostic, IsNoneIfItsJobWasDeletedWhileTheNodeGotWorse) {
  get_worse_under_it();
  expect_returned();
}

// A maintenance has steps of its own, which return the node.
TEST_F(FailedDiagnostic, IsNotOutweighedByAMaintenance) {
  policy.maintenance[AnnouncementKind::kReboot].steps = {planned(Step::kCordon),
                                                         planned(Step::kReturn)};
  fail_after();
  plan(Severity::kIsolate, {});
  policy.steps[Severity::kIsolate].back().before.approval = true;
  policy_.set(policy);
  ASSERT_TRUE(take({signal(Severity::kIsolate)}));
  go_on(2);
  AlertSignal announced = signal(Severity::kMonitor);
  announced.alertname = alertname_of(AnnouncementKind::kReboot);
  announced.fingerprint = std::string(kAnnouncementOrigin) + "1";
  announced.is_of_this_machine = true;
  ASSERT_TRUE(take({announced}));
  alerts_end();
  go_on(3);
  ASSERT_EQ(remediation().status.rule, "wait.maintenance");

  announced.firing = false;
  announced.ends_at = clock_.wall();
  ASSERT_TRUE(take({announced}));
  go_on(3);
  expect_held("quarantine-job failed: so it ended, and no restart or reset");
}

}  // namespace
}  // namespace gpuward::remediator
