// The step `restart-job` with real programs.
#include "remediator/actions/restart_job_action.h"

#include <gmock/gmock.h>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "remediator/actions/step_progress.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/actions/intended_step.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

class RestartJobActionTest : public ::testing::Test {
 protected:
  RestartJobActionTest() {
    remediation_.name = "gpu-01-ab-1";
    remediation_.severity = Severity::kReboot;
    node_.meta.name = "gpu-01";
    node_.meta.uid = "uid-1";
    remediation_.status.steps = {
        intended_step(Step::kDrain, Severity::kReboot, now_,
                      {{kJobsFact, "JobSet default/train, Job other/eval"}}),
        intended_step(Step::kRestartJob, Severity::kReboot, now_, {})};
    calls("exit 0");
  }
  // The program notes what it is told and goes on so.
  void calls(const std::string& then) {
    step_.program = {"/bin/sh", "-c", "cat >> '" + (folder_ / "told").string() + "'; " + then};
  }
  StepRequest request() {
    return {.remediation = remediation_,
            .node = node_,
            .step = step_,
            .facts = {},
            .permit = [this] { return allowed_; },
            .now = now_};
  }
  StepProgress begin() { return action_.begin(request()).value_or(StepProgress{}); }
  StepProgress watch() { return action_.watch(request()).value_or(StepProgress{}); }
  // Begins it and looks until it is over.
  StepProgress run() {
    StepProgress progress = begin();
    EXPECT_TRUE(support::wait_until(
        [&] {
          if (progress.result == StepResult::kRunning) progress = watch();
          return progress.result != StepResult::kRunning;
        },
        std::chrono::seconds(30), "the program to end"));
    return progress;
  }
  std::string told() { return read_file(folder_ / "told").value_or(""); }

  support::TempDir folder_;
  WallTime now_ = lasting_clock().wall();
  Remediation remediation_;
  kube::Node node_;
  PlannedStep step_ = planned(Step::kRestartJob);
  Status allowed_;
  RestartJobAction action_;
};

TEST_F(RestartJobActionTest, TellsTheProgramNodeAndJobs) {
  EXPECT_EQ(run().result, StepResult::kDone);

  const auto said = parse_json(told());
  ASSERT_TRUE(said) << told();
  EXPECT_EQ((*said)["action"], "restart-job");
  EXPECT_EQ((*said)["remediation"], "gpu-01-ab-1");
  EXPECT_EQ((*said)["node"], "gpu-01");
  EXPECT_EQ((*said)["nodeUID"], "uid-1");
  EXPECT_EQ((*said)["severity"], "reboot");
  EXPECT_EQ((*said)["jobs"], Json::array({"JobSet default/train", "Job other/eval"}));
}

TEST_F(RestartJobActionTest, AFailureIsSaidInTheProgramsOwnWords) {
  calls("echo 'no such job' >&2; exit 3");

  const auto progress = run();

  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_THAT(progress.message, HasSubstr("ended with 3: no such job"));
}

TEST_F(RestartJobActionTest, AProgramThatHangsIsEnded) {
  step_.program = {"/bin/sleep", "1000"};
  step_.timeout = std::chrono::milliseconds(100);

  EXPECT_EQ(run().result, StepResult::kFailed);
}

// Other nodes wait for the worker that looks after this one.
TEST_F(RestartJobActionTest, HoldsUpNobodyWhileTheProgramRuns) {
  step_.program = {"/bin/sleep", "1000"};

  EXPECT_EQ(begin().result, StepResult::kRunning);
  const auto progress = watch();

  EXPECT_EQ(progress.result, StepResult::kRunning);
  EXPECT_EQ(progress.message, "/bin/sleep runs");
}

// The step's time begins with its intent, the program's a little later.
TEST_F(RestartJobActionTest, AProgramThatStillRunsAfterTheStepsTimeIsEnded) {
  step_.program = {"/bin/sleep", "1000"};
  ASSERT_EQ(begin().result, StepResult::kRunning);

  now_ += step_.timeout + std::chrono::seconds(1);

  const auto progress = watch();
  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_THAT(progress.message, HasSubstr("was ended"));
}

TEST_F(RestartJobActionTest, AProgramIsEndedWhereTheStepIsLeft) {
  step_.program = {"/bin/sleep", "1000"};
  ASSERT_EQ(begin().result, StepResult::kRunning);

  ASSERT_TRUE(action_.abandon(request()));

  EXPECT_EQ(watch().result, StepResult::kFailed);
}

TEST_F(RestartJobActionTest, CallsNobodyWhereNoJobHasLostAPod) {
  remediation_.status.steps[0].facts.clear();

  EXPECT_EQ(begin().result, StepResult::kDone);
  EXPECT_EQ(told(), "");
}

TEST_F(RestartJobActionTest, CallsOnceARemediation) {
  remediation_.status.steps[1].attempts = 2;
  EXPECT_EQ(begin().result, StepResult::kDone);
  EXPECT_EQ(told(), "");

  const auto after_a_crash = action_.watch(request());
  ASSERT_TRUE(after_a_crash);
  EXPECT_EQ(after_a_crash->result, StepResult::kFailed);
  EXPECT_THAT(after_a_crash->message, HasSubstr("not called again"));
}

TEST_F(RestartJobActionTest, WaitsWhileNothingMayBeChanged) {
  allowed_ = fail(ErrorKind::kCancelled, "the switch is on");

  EXPECT_EQ(begin().result, StepResult::kIntended);
  EXPECT_EQ(told(), "");
}

}  // namespace
}  // namespace gpuward::remediator
