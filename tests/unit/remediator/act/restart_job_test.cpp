// The step restart-job on the whole reconciler, with a real program and with the jobs of a fake
// cluster: events that revoke the permission between the intent and the call, and no job that stays
// suspended.
#include "core/runtime/files.h"
#include "remediator/act/actions/restart_job_action.h"
#include "remediator/act/actions/step_progress.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/act/cluster_fixture.h"
#include "tests/unit/remediator/act/restart/torn_jobs.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;

// The real step, with an event right before it begins.
class LateRestart final : public StepAction {
 public:
  explicit LateRestart(kube::Api& api) : real_(api) {}
  Result<StepProgress> begin(const StepRequest& request) override {
    if (before) before();
    return real_.begin(request);
  }
  Result<StepProgress> watch(const StepRequest& request) override { return real_.watch(request); }
  Status abandon(const StepRequest& request) override { return real_.abandon(request); }
  std::function<void()> before;

 private:
  RestartJobAction real_;
};

class RestartJobTest : public ClusterTest {
 protected:
  RestartJobTest() {
    exclusions_ = &exclusion_store_;
    clock_.advance(minutes(15));  // the startup grace is over
    Policy policy;
    policy.mode = Mode::kFull;
    PlannedStep restart = planned(Step::kRestartJob);
    restart.program = {"/bin/sh", "-c", "cat > '" + (folder_ / "told").string() + "'"};
    policy.steps[Severity::kReboot] = {planned(Step::kTaint), planned(Step::kCordon),
                                       planned(Step::kDrain), restart};
    policy_.set(policy);
    steps_[Step::kDrain].progress->result = StepResult::kDone;
    steps_[Step::kDrain].adds = {{kJobsFact, "JobSet default/train"}};
    EXPECT_TRUE(take({signal()}));
    catch_up(*replica_);
    reports_.answer = report_of(Severity::kReboot);
  }
  StepAction* action_of(Step step) override {
    return step == Step::kRestartJob ? static_cast<StepAction*>(&restart_)
                                     : ClusterTest::action_of(step);
  }
  Reconciler replica_of(std::function<bool()> leads) {
    return Reconciler({.api = api_,
                       .store = replica_->store,
                       .view = replica_->view,
                       .policy = policy_,
                       .reports = &reports_,
                       .alerts = nullptr,
                       .slots = slots_,
                       .step_actions = [this](Step step) { return action_of(step); },
                       .permit = [this] { return permit_; },
                       .announcer = replica_->announcer,
                       .observer = replica_->recorder,
                       .clock = clock_,
                       .exclusions = exclusions_,
                       .leads = std::move(leads)});
  }
  // Looks until the step has begun, and then once more.
  void look(Reconciler& reconciler, int times = 5) {
    for (int i = 0; i < times; ++i) {
      catch_up(*replica_);
      (void)reconciler.reconcile("gpu-01");
    }
  }
  std::string told() { return read_file(folder_ / "told").value_or(""); }

  support::TempDir folder_;
  ExclusionStore exclusion_store_{api_, "default", clock_};
  LateRestart restart_{api_};
};

TEST_F(RestartJobTest, CallsNoProgramOnceItsProcessHasLostTheLead) {
  bool leads = true;
  int begun = 0;
  restart_.before = [&] {
    ++begun;
    leads = false;
  };
  Reconciler reconciler = replica_of([&leads] { return leads; });

  look(reconciler);

  EXPECT_GT(begun, 1) << "the step starts again, and asks for permission again";
  EXPECT_EQ(told(), "");
  EXPECT_THAT(remediation().status.message, HasSubstr("no longer the leader"));

  restart_.before = {};
  leads = true;
  look(reconciler);
  EXPECT_TRUE(support::wait_until(
      [&] {
        look(reconciler, 1);
        return remediation().status.has_done(Step::kRestartJob);
      },
      "the program to end"));
  EXPECT_THAT(told(), HasSubstr("JobSet default/train")) << "and then it is called";
}

// The jobs run on other nodes too, but the exclusion covers every action for this node.
TEST_F(RestartJobTest, CallsNoProgramForANodeThatWasExcludedSince) {
  restart_.before = [&] {
    const ExclusionList list{{"gpu-01",
                              {.since = clock_.wall(),
                               .until = clock_.wall() + minutes(30),
                               .reason = "a test",
                               .by = "me"}}};
    ASSERT_TRUE(
        exclusion_store_.change([&](const ExclusionList&) { return Result<ExclusionList>(list); }));
  };
  Reconciler reconciler = replica_of({});

  look(reconciler);

  EXPECT_EQ(told(), "");
  EXPECT_FALSE(remediation().status.find(Step::kRestartJob));
}

TEST_F(RestartJobTest, CallsNoProgramIfTheModeWasLoweredSince) {
  restart_.before = [&] {
    Policy policy = *policy_.get();
    policy.mode = Mode::kCordon;
    policy_.set(policy);
  };
  Reconciler reconciler = replica_of({});

  look(reconciler);

  EXPECT_EQ(told(), "");
  EXPECT_FALSE(remediation().status.find(Step::kRestartJob));
}

// The step without a program. No step follows it, so that gpuward holds the node.
class RestartOfTornJobsTest : public RestartJobTest {
 protected:
  RestartOfTornJobsTest() {
    change_policy([](Policy& policy) { policy.steps[Severity::kReboot].back().program.clear(); });
    clock_.advance(minutes(1));
    jobs_.add(kJobSet);
  }
  void change_policy(const std::function<void(Policy&)>& change) {
    Policy policy = *policy_.get();
    change(policy);
    policy_.set(policy);
  }
  void look(int times = 1) { RestartJobTest::look(replica_->reconciler, times); }
  // Looks until the job is suspended.
  void suspend() {
    for (int i = 0; i < 20 && !jobs_.is_suspended(kJobSet); ++i) {
      look();
      clock_.advance(std::chrono::seconds(2));
    }
    ASSERT_TRUE(jobs_.is_suspended(kJobSet));
  }
  void annotate(const Json& annotations) {
    kube_.patch(std::string(remediation_collection()) + "/" + remediation().name,
                {{"metadata", {{"annotations", annotations}}}});
  }
  const StepRecord* record() {
    last_ = remediation();
    return last_.status.find(Step::kRestartJob);
  }

  TornJobs jobs_{kube_};
  Remediation last_;
};

TEST_F(RestartOfTornJobsTest, EndsAndTheNextStepFollows) {
  suspend();
  jobs_.play(kJobSet);

  look(3);

  ASSERT_NE(record(), nullptr);
  EXPECT_EQ(record()->result, StepResult::kDone);
  EXPECT_EQ(record()->message, "JobSet default/train restarted");
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  jobs_.play(kJobSet);
  EXPECT_EQ(jobs_.pods_of(kJobSet).size(), 3U);
}

// Its leader died between the two patches.
TEST_F(RestartOfTornJobsTest, IsFinishedByTheNextLeader) {
  suspend();
  restart();
  jobs_.play(kJobSet);

  look(3);

  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
  EXPECT_EQ(record()->result, StepResult::kDone);
}

// The record must first say who restarts the jobs.
TEST_F(RestartOfTornJobsTest, SuspendsNothingWhoseRecordCannotBeWritten) {
  restart_.before = [&] {
    kube_.add_fault({.kind = fakes::FaultKind::kInternalError,
                     .method = "PUT",
                     .path = ".*/remediations/.*/status",
                     .times = -1});
  };

  look(5);
  restart();
  look(5);

  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
  kube_.clear_faults();
  restart_.before = {};
  suspend();
}

TEST_F(RestartOfTornJobsTest, LeavesNoJobSuspendedIfItIsNotDoneInTime) {
  suspend();

  for (int i = 0; i < 12; ++i) {
    clock_.advance(minutes(1));
    look(1);
  }

  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
  EXPECT_EQ(record()->result, StepResult::kFailed);
  EXPECT_THAT(record()->message, HasSubstr("3 pods had not terminated"));
}

TEST_F(RestartOfTornJobsTest, ResumesNothingWhileStoppedAndDoesNotFailMeanwhile) {
  suspend();
  jobs_.play(kJobSet);
  permit_ = fail(ErrorKind::kCancelled, "the switch says stop");
  clock_.advance(minutes(11));

  look(3);

  EXPECT_TRUE(jobs_.is_suspended(kJobSet));
  EXPECT_EQ(record()->result, StepResult::kRunning);
  EXPECT_THAT(record()->message, HasSubstr("the switch says stop"));

  permit_ = {};
  look(3);
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

TEST_F(RestartOfTornJobsTest, LeavesNoJobSuspendedWhilePaused) {
  suspend();
  annotate({{"gpuward.dev/pause", "true"}});

  look(2);

  EXPECT_EQ(remediation().status.phase, Phase::kPaused);
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
  EXPECT_EQ(jobs_.annotation(kJobSet, kRestartedBy), remediation().name + "/" + remediation().uid);
}

TEST_F(RestartOfTornJobsTest, LeavesNoJobSuspendedOfANodeThatIsExcludedSince) {
  suspend();
  kube_.patch("/api/v1/nodes/gpu-01",
              {{"metadata", {{"labels", {{"gpuward.dev/managed", "false"}}}}}});

  look(2);

  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

TEST_F(RestartOfTornJobsTest, LeavesNoJobSuspendedIfTheModeWasLoweredSince) {
  suspend();
  change_policy([](Policy& policy) { policy.mode = Mode::kCordon; });

  look(2);

  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

TEST_F(RestartOfTornJobsTest, LeavesNoJobSuspendedWhenCancelled) {
  suspend();
  annotate({{"gpuward.dev/cancel", "true"}});

  look(3);

  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

// An operator has cleaned the node by hand.
TEST_F(RestartOfTornJobsTest, LeavesNoJobSuspendedOfANodeThatHasNothingOfOurs) {
  suspend();
  annotate({{"gpuward.dev/cancel", "true"}});
  kube_.patch("/api/v1/nodes/gpu-01",
              {{"metadata", {{"annotations", {{kAnnotation, nullptr}}}}},
               {"spec", {{"taints", nullptr}, {"unschedulable", nullptr}}}});

  look(3);

  EXPECT_FALSE(remediation().open());
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

TEST_F(RestartOfTornJobsTest, LeavesNoJobSuspendedWhoseNodeIsGone) {
  suspend();
  kube_.remove("/api/v1/nodes/gpu-01");

  look(3);

  EXPECT_EQ(remediation().status.phase, Phase::kSuperseded);
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

TEST_F(RestartOfTornJobsTest, AreNotClosedWhileAJobCannotBeResumed) {
  suspend();
  kube_.remove("/api/v1/nodes/gpu-01");
  kube_.access().deny({.user = {}, .verb = "patch", .resource = "jobsets"});

  look(3);
  EXPECT_TRUE(remediation().open());

  permit_ = fail(ErrorKind::kCancelled, "the switch says stop");
  look(3);
  EXPECT_TRUE(remediation().open());
}

TEST_F(RestartOfTornJobsTest, WritesDownAPauseThoughAJobCannotBeResumed) {
  suspend();
  kube_.access().deny({.user = {}, .verb = "patch", .resource = "jobsets"});
  annotate({{"gpuward.dev/pause", "true"}});

  look(2);

  EXPECT_EQ(remediation().status.phase, Phase::kPaused);
  ASSERT_FALSE(replica_->recorder.errors.empty());
  EXPECT_THAT(replica_->recorder.errors.back().message, HasSubstr("resuming JobSet default/train"));
}

TEST_F(RestartOfTornJobsTest, SuspendsNothingOfANodeThatWasExcludedSince) {
  restart_.before = [&] {
    kube_.patch("/api/v1/nodes/gpu-01",
                {{"metadata", {{"labels", {{"gpuward.dev/managed", "false"}}}}}});
  };
  clock_.advance(minutes(1));

  look(6);

  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

TEST_F(RestartOfTornJobsTest, SuspendsNothingInAModeThatDoesNotGoSoFar) {
  change_policy([](Policy& policy) { policy.mode = Mode::kObserve; });

  for (int i = 0; i < 5; ++i) {
    look();
    clock_.advance(minutes(1));
  }

  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

TEST_F(RestartOfTornJobsTest, ChangesNothingOnceItsProcessHasLostTheLead) {
  bool leads = true;
  Reconciler old = replica_of([&leads] { return leads; });
  for (int i = 0; i < 20 && !jobs_.is_suspended(kJobSet); ++i) {
    RestartJobTest::look(old, 1);
    clock_.advance(std::chrono::seconds(2));
  }
  ASSERT_TRUE(jobs_.is_suspended(kJobSet));
  jobs_.play(kJobSet);
  leads = false;

  RestartJobTest::look(old, 3);
  EXPECT_TRUE(jobs_.is_suspended(kJobSet));

  look(3);
  EXPECT_FALSE(jobs_.is_suspended(kJobSet)) << "the next one goes on";
}

}  // namespace
}  // namespace gpuward::remediator
