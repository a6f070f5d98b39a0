// The step restart-job on the whole workflow, with a real program: what takes the permission away
// between the intent and the call.
#include "core/runtime/files.h"
#include "remediator/actions/restart_job_action.h"
#include "remediator/actions/step_progress.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/execution/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;

// The real step, with something that happens right before it is begun.
class LateRestart final : public StepAction {
 public:
  Result<StepProgress> begin(const StepRequest& request) override {
    if (before) before();
    return real_.begin(request);
  }
  Result<StepProgress> watch(const StepRequest& request) override { return real_.watch(request); }
  std::function<void()> before;

 private:
  RestartJobAction real_;
};

class RestartJobTest : public ClusterTest {
 protected:
  RestartJobTest() {
    exclusions_ = &exclusion_store_;
    clock_.advance(minutes(15));  // the node is no newcomer
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
  // Until the step has been begun, and then once more.
  void look(Reconciler& reconciler, int times = 5) {
    for (int i = 0; i < times; ++i) {
      catch_up(*replica_);
      (void)reconciler.reconcile("gpu-01");
    }
  }
  std::string told() { return read_file(folder_ / "told").value_or(""); }

  support::TempDir folder_;
  ExclusionStore exclusion_store_{api_, "default", clock_};
  LateRestart restart_;
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

  EXPECT_GT(begun, 1) << "it is begun anew, and the permission is asked for anew";
  EXPECT_EQ(told(), "");
  EXPECT_THAT(remediation().status.message, HasSubstr("does not lead any more"));

  restart_.before = {};
  leads = true;
  look(reconciler);
  EXPECT_TRUE(support::wait_until(
      [&] {
        look(reconciler, 1);
        return remediation().status.has_done(Step::kRestartJob);
      },
      std::chrono::seconds(30), "the program to end"));
  EXPECT_THAT(told(), HasSubstr("JobSet default/train")) << "and then it is called";
}

// The jobs run elsewhere too, but the wish is about whatever is done for this node.
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

TEST_F(RestartJobTest, CallsNoProgramWhereTheModeWasLoweredSince) {
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

}  // namespace
}  // namespace gpuward::remediator
