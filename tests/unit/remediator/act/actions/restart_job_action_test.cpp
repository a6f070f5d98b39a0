// The step `restart-job`: with real programs, and with the API of each kind of job.
#include "remediator/act/actions/restart_job_action.h"

#include <gmock/gmock.h>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "remediator/act/actions/step_progress.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/act/actions/intended_step.h"
#include "tests/unit/remediator/act/drain/drain_cluster.h"
#include "tests/unit/remediator/act/restart/torn_jobs.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

class RestartJobActionTest : public DrainCluster {
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
  // The program keeps its input in the file `told`, then runs `then`.
  void calls(const std::string& then) {
    step_.program = {"/bin/sh", "-c", "cat >> '" + (folder_ / "told").string() + "'; " + then};
  }
  StepRequest request() {
    return {.remediation = remediation_,
            .node = node_,
            .step = step_,
            .facts = {},
            .permit = [this] { return allowed_; },
            .now = now_,
            .ran = ran_of(remediation_, step_.step, now_)};
  }
  StepProgress begin() { return action_.begin(request()).value_or(StepProgress{}); }
  StepProgress watch() { return action_.watch(request()).value_or(StepProgress{}); }
  // Begins the step and looks until it has ended.
  StepProgress run() {
    StepProgress progress = begin();
    EXPECT_TRUE(support::wait_until(
        [&] {
          if (progress.result == StepResult::kRunning) progress = watch();
          return progress.result != StepResult::kRunning;
        },
        "the program to end"));
    return progress;
  }
  std::string told() { return read_file(folder_ / "told").value_or(""); }

  support::TempDir folder_;
  WallTime now_ = lasting_clock().wall();
  Remediation remediation_;
  kube::Node node_;
  PlannedStep step_ = planned(Step::kRestartJob);
  Status allowed_;
  RestartJobAction action_{api_};
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

// Other nodes wait for the worker that looks at this one.
TEST_F(RestartJobActionTest, HoldsUpNobodyWhileTheProgramRuns) {
  step_.program = {"/bin/sleep", "1000"};

  EXPECT_EQ(begin().result, StepResult::kRunning);
  const auto progress = watch();

  EXPECT_EQ(progress.result, StepResult::kRunning);
  EXPECT_EQ(progress.message, "/bin/sleep runs");
}

// The step's time begins with its intent, the program's time a little later.
TEST_F(RestartJobActionTest, AProgramThatStillRunsAfterTheStepsTimeIsEnded) {
  step_.program = {"/bin/sleep", "1000"};
  ASSERT_EQ(begin().result, StepResult::kRunning);

  now_ += step_.timeout + std::chrono::seconds(1);

  const auto progress = watch();
  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_THAT(progress.message, HasSubstr("was stopped"));
}

TEST_F(RestartJobActionTest, AProgramIsEndedIfTheStepIsLeft) {
  step_.program = {"/bin/sleep", "1000"};
  ASSERT_EQ(begin().result, StepResult::kRunning);

  ASSERT_TRUE(action_.abandon(request()));

  EXPECT_EQ(watch().result, StepResult::kFailed);
}

TEST_F(RestartJobActionTest, CallsNobodyIfNoJobHasLostAPod) {
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
  EXPECT_THAT(after_a_crash->message, HasSubstr("not started again"));
}

TEST_F(RestartJobActionTest, WaitsWhileNothingMayBeChanged) {
  allowed_ = fail(ErrorKind::kCancelled, "the switch is on");

  EXPECT_EQ(begin().result, StepResult::kIntended);
  EXPECT_EQ(told(), "");
}

// The step without a program, on the jobs of a fake cluster. job_restarter_test covers each single
// job.
class RestartOfJobsTest : public RestartJobActionTest {
 protected:
  RestartOfJobsTest() {
    clock_.advance(std::chrono::minutes(10));
    now_ = clock_.wall();
    step_.program.clear();
    remediation_.uid = "uid-of-it";
    jobs_.add(kJobSet, "train");
    jobs_.add(kPlainJob, "eval");
    StepRecord& drain = remediation_.status.steps[0];
    drain = intended_step(Step::kDrain, Severity::kReboot, now_,
                          {{kJobsFact, "JobSet default/train, Job default/eval"}});
    drain.finished_at = now_;
    step_record().intent_at = now_;
    now_ += std::chrono::minutes(1);
  }
  StepRecord& step_record() { return remediation_.status.steps[1]; }
  // Records the progress as the reconciler does.
  StepProgress taken(const Result<StepProgress>& progress) {
    step_record().result = progress->result;
    step_record().facts = progress->facts;
    return *progress;
  }
  StepRequest request() {
    StepRequest made = RestartJobActionTest::request();
    made.facts = step_record().facts;
    return made;
  }
  StepProgress begin() { return taken(action_.begin(request())); }
  StepProgress watch() {
    StepProgress progress = taken(action_.watch(request()));
    // The record now has the intent, so the next look acts.
    if (progress.look_again == std::chrono::milliseconds(0))
      progress = taken(action_.watch(request()));
    return progress;
  }
  bool all_run() { return !jobs_.is_suspended(kJobSet) && !jobs_.is_suspended(kPlainJob, "eval"); }

  TornJobs jobs_{kube_};
};

TEST_F(RestartOfJobsTest, RestartsEachJobAndSaysHowItEnded) {
  EXPECT_EQ(begin().result, StepResult::kRunning);
  EXPECT_TRUE(all_run()) << "the record has to say first who restarts them";

  EXPECT_EQ(watch().result, StepResult::kRunning);
  EXPECT_TRUE(jobs_.is_suspended(kJobSet));
  EXPECT_TRUE(jobs_.is_suspended(kPlainJob, "eval"));
  jobs_.play(kJobSet);
  EXPECT_EQ(watch().result, StepResult::kRunning);
  jobs_.play(kPlainJob, "eval");

  const auto ended = watch();

  EXPECT_EQ(ended.result, StepResult::kDone);
  EXPECT_EQ(ended.message, "JobSet default/train restarted, Job default/eval restarted");
  EXPECT_THAT(ended.news, ::testing::ElementsAre("Job default/eval restarted"));
  EXPECT_TRUE(all_run());
}

// A record takes 16 facts of a step (manifests/crd.yaml).
TEST_F(RestartOfJobsTest, RestartsMoreJobsThanARecordHasFacts) {
  std::string torn;
  for (int i = 0; i < 20; ++i)
    torn += (i == 0 ? "" : ", ") + jobs_.add(kPlainJob, "work-" + std::to_string(i));
  remediation_.status.steps[0].facts[kJobsFact] = torn;
  (void)begin();
  StepProgress now = watch();
  for (int looks = 0; now.result == StepResult::kRunning && looks < 30; ++looks) {
    EXPECT_LE(now.facts.size(), 16U);
    for (int i = 0; i < 20; ++i) {
      const std::string name = "work-" + std::to_string(i);
      if (jobs_.is_suspended(kPlainJob, name)) jobs_.play(kPlainJob, name);
    }
    now = watch();
  }

  EXPECT_EQ(now.result, StepResult::kDone) << now.message;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "work-" + std::to_string(i);
    EXPECT_FALSE(jobs_.is_suspended(kPlainJob, name)) << name;
    EXPECT_NE(jobs_.annotation(kPlainJob, kRestartedBy, name), "") << name;
  }
}

TEST_F(RestartOfJobsTest, HasFailedIfOneJobHasNotRestarted) {
  kube_.access().deny({.user = {}, .verb = "get", .resource = "jobsets"});
  (void)begin();
  (void)watch();
  jobs_.play(kPlainJob, "eval");

  const auto ended = watch();

  EXPECT_EQ(ended.result, StepResult::kFailed);
  EXPECT_THAT(ended.message, HasSubstr("JobSet default/train failed: "));
  EXPECT_THAT(ended.message, HasSubstr("Job default/eval restarted"));
}

TEST_F(RestartOfJobsTest, RestartsNothingASecondTime) {
  step_record().attempts = 2;

  EXPECT_EQ(begin().result, StepResult::kDone);
  EXPECT_TRUE(all_run());
}

// A process died before it could record that it restarts the jobs. Nothing was done.
TEST_F(RestartOfJobsTest, AreIntendedAnewIfNothingWasDone) {
  EXPECT_EQ(watch().result, StepResult::kIntended);
  EXPECT_TRUE(all_run());
}

TEST_F(RestartOfJobsTest, WaitSomeSecondsAfterTheDrain) {
  now_ = *remediation_.status.steps[0].finished_at + std::chrono::seconds(1);
  (void)begin();

  EXPECT_THAT(watch().message, HasSubstr("has up to 10s after the drain to restart by itself"));
  EXPECT_TRUE(all_run());
}

TEST_F(RestartOfJobsTest, AreResumedByWhoeverWatchesNext) {
  (void)begin();
  (void)watch();
  jobs_.play(kJobSet);
  jobs_.play(kPlainJob, "eval");
  RestartJobAction next{api_};

  EXPECT_EQ(next.watch(request())->result, StepResult::kDone);
  EXPECT_TRUE(all_run());
}

TEST_F(RestartOfJobsTest, AreResumedIfThePolicyNamesAProgramByNow) {
  (void)begin();
  (void)watch();
  calls("exit 0");
  now_ += std::chrono::hours(1);

  EXPECT_EQ(watch().result, StepResult::kFailed);
  EXPECT_TRUE(all_run());
  EXPECT_EQ(told(), "");
}

TEST_F(RestartOfJobsTest, AreResumedIfTheStepIsLeft) {
  (void)begin();
  (void)watch();
  step_ = planned(Step::kRestartJob);

  ASSERT_TRUE(action_.abandon(request()));

  EXPECT_TRUE(all_run());
  EXPECT_TRUE(action_.abandon(request())) << "it may be repeated";
}

// The API server would refuse again, but gpuward leaves no job suspended.
TEST_F(RestartOfJobsTest, AreNotGivenUpIfTheyCannotBeResumed) {
  (void)begin();
  (void)watch();
  kube_.access().deny({.user = {}, .verb = "patch", .resource = "jobsets"});

  const auto left = action_.abandon(request());

  ASSERT_FALSE(left);
  EXPECT_EQ(left.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(left.error().message, HasSubstr("resuming JobSet default/train"));
  EXPECT_FALSE(jobs_.is_suspended(kPlainJob, "eval")) << "the others are";
}

}  // namespace
}  // namespace gpuward::remediator
