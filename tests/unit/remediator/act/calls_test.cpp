// The restart of a machine on the whole reconciler, with the real step and a scripted provider: the
// call is refused, is never made, or may not have arrived.
#include "remediator/act/actions/reboot_action.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/decide/status_change.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

class LedMachines final : public CloudProvider {
 public:
  bool can(MachineAction, const Machine&) const override { return is_there; }
  Status reboot(const Machine&, const Permit& permit) override {
    if (before_the_call) before_the_call();
    if (auto may = permit(); !may) return may;
    ++asked;
    if (after_the_call) after_the_call();
    return answer;
  }
  Status terminate(const Machine&, const Permit&) override {
    return fail(ErrorKind::kInternal, "not asked for");
  }
  Result<MachineFate> fate(const Machine&) override { return Fate::kRuns; }
  std::function<void()> before_the_call;  // while the provider reads before the call
  std::function<void()> after_the_call;
  int asked = 0;
  bool is_there = true;
  Status answer;
};

class CallsTest : public ClusterTest {
 protected:
  CallsTest() {
    exclusions_ = &exclusion_store_;
    restart();
    clock_.advance(minutes(15));  // the startup grace is over
    Policy policy;
    policy.mode = Mode::kFull;
    policy.steps[Severity::kReboot] = {planned(Step::kTaint), planned(Step::kCordon),
                                       planned(Step::kDrain), planned(Step::kReboot),
                                       planned(Step::kVerify)};
    policy.steps[Severity::kIsolate] = {planned(Step::kTaint), planned(Step::kCordon),
                                        planned(Step::kDrain), planned(Step::kTerminate)};
    policy_.set(policy);
    steps_[Step::kDrain].progress->result = StepResult::kDone;
    EXPECT_TRUE(take({signal()}));
  }
  StepAction* action_of(Step step) override {
    if (step == Step::kReboot) return &reboot_;
    return ClusterTest::action_of(step);
  }
  // Looks with fresh evidence until no look is due at once.
  void look(int tries = 10) {
    for (int i = 0; i < 8; ++i) {
      reports_.answer = report_of(Severity::kReboot, boot_);
      if (!reconcile(tries)) return;
      if (!look_.look_again || *look_.look_again > std::chrono::milliseconds(0)) return;
    }
  }
  // Lets time pass while a leader looks each minute.
  void pass(minutes time) {
    for (; time.count() > 0; --time) {
      clock_.advance(minutes(1));
      look();
    }
  }
  // The process dies after the intent. The next process finds only the intent.
  void die_before_the_call() {
    look();
    ASSERT_EQ(machines_.asked, 1);
    Remediation one = remediation();
    for (StepRecord& record : one.status.steps) {
      if (record.step != Step::kReboot) continue;
      record.result = StepResult::kIntended;
      record.facts = reboot_.facts_before(node());
    }
    ASSERT_TRUE(replica_->store.write_status(one));
    machines_.asked = 0;
    restart();
  }
  void boots(const std::string& boot, bool is_ready = true) {
    boot_ = boot;
    const Json ready = {{"type", "Ready"}, {"status", is_ready ? "True" : "False"}};
    kube_.patch_status(
        "/api/v1/nodes/gpu-01",
        {{"status", {{"nodeInfo", {{"bootID", boot}}}, {"conditions", Json::array({ready})}}}});
  }
  void expect_held(const std::string& says) {
    const RemediationStatus status = remediation().status;
    EXPECT_EQ(status.phase, Phase::kHeld);
    EXPECT_EQ(status.notified_phase, Phase::kHeld);
    EXPECT_THAT(status.message, HasSubstr(says));
    EXPECT_THAT(status.message, Not(HasSubstr("not done in time")));
    EXPECT_FALSE(status.escalated_to);
  }

  ExclusionStore exclusion_store_{api_, "default", clock_};
  LedMachines machines_;
  RebootAction reboot_{machines_, api_, policy_};
  std::string boot_ = "boot-gpu-01";
};

// Events that revoke the permission while the provider reads before the call.
TEST_F(CallsTest, NothingIsAskedForIfLeaveIsTakenAwayAtTheLastMoment) {
  const auto annotate = [this](std::string_view key, const Json& value) {
    kube_.patch(remediation_collection() + "/" + remediation().name,
                {{"metadata", {{"annotations", {{std::string(key), value}}}}}});
  };
  const auto label = [this](const Json& value) {
    kube_.patch("/api/v1/nodes/gpu-01",
                {{"metadata", {{"labels", {{"gpuward.dev/managed", value}}}}}});
  };
  const auto exclude = [this](const ExclusionList& list) {
    ExclusionStore human(api_, "default", clock_);
    ASSERT_TRUE(human.change([&](const ExclusionList&) { return Result<ExclusionList>(list); }));
  };
  const auto mode = [this](Mode wanted) {
    Policy policy = *policy_.get();
    policy.mode = wanted;
    policy_.set(policy);
  };
  struct Way {
    std::string name;
    std::function<void()> taken_away, given_back;
  };
  const std::vector<Way> ways = {
      {"pause", [&] { annotate(kPauseAnnotation, "true"); },
       [&] { annotate(kPauseAnnotation, nullptr); }},
      {"managed=false", [&] { label("false"); }, [&] { label(nullptr); }},
      {"exclusion",
       [&] {
         exclude({{"gpu-01",
                   {.since = clock_.wall(),
                    .until = clock_.wall() + minutes(30),
                    .reason = "a test",
                    .by = "me"}}});
       },
       [&] { exclude({}); }},
      {"mode", [&] { mode(Mode::kCordon); }, [&] { mode(Mode::kFull); }},
      {"stop", [&] { permit_ = fail(ErrorKind::kCancelled, "everything is to stop"); },
       [&] { permit_ = {}; }},
  };
  for (const Way& way : ways) {
    machines_.before_the_call = way.taken_away;
    look();
    machines_.before_the_call = {};
    EXPECT_EQ(machines_.asked, 0) << way.name;
    EXPECT_THAT(remediation().status.message, Not(HasSubstr("not known"))) << way.name;
    const StepRecord* record = remediation().status.find(Step::kReboot);
    EXPECT_TRUE(record == nullptr || record->result == StepResult::kDone) << way.name;
    way.given_back();
    clock_.advance(minutes(1));
    boots("boot-gpu-01");
  }
  look();
  EXPECT_EQ(machines_.asked, 1) << "and then it is";
}

// The API server has seen the operator's change already; the view has not.
TEST_F(CallsTest, NothingIsAskedForOnceAnOperatorHasUncordonedTheNode) {
  machines_.before_the_call = [this] {
    kube_.patch("/api/v1/nodes/gpu-01", {{"spec", {{"unschedulable", nullptr}}}});
  };
  look();
  look();
  EXPECT_EQ(machines_.asked, 0);
  EXPECT_EQ(remediation().status.phase, Phase::kPaused);
}

// An operator's write to the Remediation during the call must not lose the record of the call.
TEST_F(CallsTest, AnAcceptedCallIsRecordedOverTheWriteOfSomebodyElse) {
  machines_.after_the_call = [this] {
    kube_.patch(remediation_collection() + "/" + remediation().name,
                {{"metadata", {{"annotations", {{"team", "ml"}}}}}});
  };

  look(1);

  EXPECT_EQ(machines_.asked, 1);
  EXPECT_EQ(remediation().status.find(Step::kReboot)->facts.at(kCallFact), "accepted");
}

// Found in a review: a power-cycle program that exits 1 led to the end of the machine.
TEST_F(CallsTest, ARefusedRestartIsAskedForAgainAFewTimesAndThenHeld) {
  machines_.answer = fail(ErrorKind::kRefused, "power-cycle ended with exit code 1");
  look();
  EXPECT_EQ(machines_.asked, 1);
  EXPECT_EQ(remediation().status.phase, Phase::kWaiting);
  EXPECT_THAT(remediation().status.message,
              HasSubstr("the restart was refused: power-cycle ended with exit code 1; retry at "));
  look();
  EXPECT_EQ(machines_.asked, 1) << "not before its time";
  for (int i = 0; i < 4; ++i) {
    clock_.advance(minutes(2));
    look();
  }

  EXPECT_EQ(machines_.asked, 3);
  expect_held("reboot failed: the restart was refused: power-cycle ended with exit code 1");
}

TEST_F(CallsTest, ARestartThatIsAcceptedAtLastGoesOn) {
  machines_.answer = fail(ErrorKind::kRefused, "busy");
  look();
  machines_.answer = {};
  clock_.advance(minutes(2));
  look();
  EXPECT_EQ(remediation().status.phase, Phase::kRebooting);

  boots("boot-2");
  look();

  EXPECT_TRUE(remediation().status.has_done(Step::kReboot));
}

// Found in a review: with approvals off, gpuward never made the call, and began to end the machine.
TEST_F(CallsTest, ARestartThatMayNeverHaveBeenAskedForIsAskedForAgainOnceItIsSafe) {
  die_before_the_call();
  look();
  EXPECT_THAT(remediation().status.message, HasSubstr("restart requested, response unknown"));
  pass(minutes(18));
  EXPECT_EQ(machines_.asked, 0) << "its time is not over";

  pass(minutes(4));

  EXPECT_EQ(machines_.asked, 1);
  EXPECT_EQ(remediation().status.phase, Phase::kRebooting);
  EXPECT_FALSE(remediation().status.escalated_to);
}

TEST_F(CallsTest, ARestartOfWhichNoAnswerCameIsWaitedForLongerThanItsTimeMayBe) {
  Policy policy = *policy_.get();
  policy.steps[Severity::kReboot][3].timeout = minutes(1);
  policy_.set(policy);
  machines_.answer = fail(ErrorKind::kTimeout, "no answer");
  look();
  clock_.advance(minutes(9));
  look();
  EXPECT_EQ(machines_.asked, 1);
  EXPECT_EQ(remediation().status.find(Step::kReboot)->result, StepResult::kRunning);

  boots("boot-2");
  look();

  EXPECT_TRUE(remediation().status.has_done(Step::kReboot)) << "it has come late";
}

TEST_F(CallsTest, ANodeThatDoesNotReportIsNotRestartedASecondTime) {
  machines_.answer = fail(ErrorKind::kTimeout, "no answer");
  look();
  boots("boot-gpu-01", false);
  pass(minutes(22));

  EXPECT_EQ(machines_.asked, 1);
  expect_held("reboot failed: restart requested, response unknown; the node has not");
}

TEST_F(CallsTest, ARestartThatNeverArrivesIsHeldAfterAFewTries) {
  machines_.answer = fail(ErrorKind::kTimeout, "no answer");
  for (int i = 0; i < 6; ++i) {
    look();
    pass(minutes(21));
  }

  EXPECT_EQ(machines_.asked, 3);
  expect_held("restart requested, response unknown");
}

TEST_F(CallsTest, AnAcceptedRestartThatDoesNotComeCountsAgainstTheMachine) {
  look();
  ASSERT_EQ(remediation().status.find(Step::kReboot)->facts.at(kCallFact), "accepted");
  pass(minutes(22));

  EXPECT_EQ(remediation().status.escalated_to, Severity::kIsolate);
}

// Upgrade: the earlier version did not write this fact.
TEST_F(CallsTest, ARecordOfTheVersionBeforeIsOneOfWhichNobodyKnows) {
  look();
  Remediation one = remediation();
  for (StepRecord& record : one.status.steps) record.facts.erase(kCallFact);
  ASSERT_TRUE(replica_->store.write_status(one));
  pass(minutes(22));

  EXPECT_FALSE(remediation().status.escalated_to);
  EXPECT_EQ(machines_.asked, 2) << "the node is in the same boot still, and reports";
}

// Rollback: the earlier version does not know this fact, and preserves it.
TEST_F(CallsTest, WhatTheVersionBeforeDoesNotKnowStaysInTheRecord) {
  look();
  const Remediation before = remediation();

  const auto kept = to_remediation(*api_.get_custom(remediation_type(), before.name));
  const Facts& facts = kept->status.find(Step::kReboot)->facts;

  EXPECT_EQ(facts.at(kCallFact), "accepted");
  EXPECT_EQ(facts.at(kBootBeforeFact), "boot-gpu-01");
}

// A withdrawn second intent does not undo the effect of the first.
TEST(Withdrawn, AStepThatHasTreatedTheMachineBeforeIsStillKnown) {
  RemediationStatus status;
  Decision decision;
  decision.step = planned(Step::kReboot);
  const WallTime now{};
  status = with_begin(status, decision, Severity::kReset, Mode::kFull, {}, now);
  const StepProgress done{
      .result = StepResult::kDone, .message = "back", .facts = {}, .look_again = {}};
  status = with_progress(status, decision, done, {}, now);
  status =
      with_begin(status, decision, Severity::kReboot, Mode::kFull, {{kCallFact, "unknown"}}, now);
  const StepProgress withdrawn{.result = StepResult::kIntended,
                               .message = "reboot waits: throttled",
                               .facts = {},
                               .look_again = {}};

  status = with_progress(status, decision, withdrawn, {}, now);

  const StepRecord* record = status.find(Step::kReboot);
  ASSERT_NE(record, nullptr);
  EXPECT_TRUE(has_treated(*record));
  EXPECT_EQ(record->severity, Severity::kNone) << "it counts for no step";
  EXPECT_FALSE(with_progress(with_begin({}, decision, Severity::kReboot, Mode::kFull, {}, now),
                             decision, withdrawn, {}, now)
                   .find(Step::kReboot));
}

// Simulated, seed 6954: after a wait, gpuward counted a repeated restart as the first attempt.
TEST(Withdrawn, ARestartThatWasRefusedBeforeIsCountedOn) {
  Decision decision;
  decision.step = planned(Step::kReboot);
  const WallTime now{};
  const auto begun = [&](const RemediationStatus& status) {
    return with_begin(status, decision, Severity::kReboot, Mode::kFull, {{kCallFact, "unknown"}},
                      now);
  };
  const StepProgress refused{.result = StepResult::kFailed,
                             .message = "refused",
                             .facts = {{kCallFact, "none"}},
                             .look_again = {}};
  const StepProgress withdrawn{
      .result = StepResult::kIntended, .message = "waits", .facts = {}, .look_again = {}};
  RemediationStatus status = with_progress(begun({}), decision, refused, {}, now);

  for (int i = 0; i < 3; ++i) {
    status = with_progress(begun(status), decision, withdrawn, {}, now);
    const StepRecord* record = status.find(Step::kReboot);
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(record->attempts, 1);
    EXPECT_EQ(record->severity, Severity::kNone) << "it counts for no step";
    EXPECT_FALSE(has_treated(*record));
    EXPECT_EQ(call_of(*record), Call::kNone);
  }

  EXPECT_EQ(begun(status).find(Step::kReboot)->attempts, 2);
}

// `machines.job.reboot`, for a machine that no provider restarts.
class RestartByJob : public CallsTest {
 protected:
  RestartByJob() {
    kube_.create("/api/v1/namespaces", Json{{"apiVersion", "v1"},
                                            {"kind", "Namespace"},
                                            {"metadata", {{"name", "gpu-healthcheck"}}}});
    machines_.is_there = false;
    Policy policy = *policy_.get();
    policy.machines.restarts_by_job = true;
    policy.jobs.image = "here/gpuward:1";
    policy_.set(policy);
  }
  std::size_t made() { return kube_.requests("POST", kJobs).size(); }
  Json job() { return parse_json(kube_.requests("POST", kJobs).back().body).value(); }
  std::string job_path() { return std::string(kJobs) + "/" + string_at(job()["metadata"], "name"); }
  // Sets the status of the Job's pod.
  void put_pod(const Json& status) {
    const Json made = kube_.get(job_path());
    const std::string name = string_at(made["metadata"], "name");
    if (!kube_.has(std::string(kPods) + "/" + name)) {
      Json pod = fakes::pod(name, "gpu-01", {{"job-name", name}, {"gpuward.dev/step", "reboot"}});
      pod["metadata"]["ownerReferences"] = fakes::owned_by_job(made);
      kube_.create(kPods, pod);
    }
    kube_.patch_status(std::string(kPods) + "/" + name, status);
  }
  void exit_job(int code, const std::string& words = "") {
    put_pod(fakes::ended_pod_status("c", code, words, "Error"));
    kube_.patch_status(job_path(),
                       fakes::ended_job_status(code == 0 ? "Complete" : "Failed",
                                               code == 0 ? "" : "BackoffLimitExceeded"));
  }
  // The garbage collector does after the end of the Job.
  void remove_pod() {
    const Json made = job();
    kube_.remove(std::string(kPods) + "/" + string_at(made["metadata"], "name"));
  }
  void cancel() {
    kube_.patch(remediation_collection() + "/" + remediation().name,
                {{"metadata", {{"annotations", {{"gpuward.dev/cancel", "true"}}}}}});
  }
  const StepRecord& record() {
    seen_ = remediation();
    return *seen_.status.find(Step::kReboot);
  }

  static constexpr const char* kJobs = "/apis/batch/v1/namespaces/gpu-healthcheck/jobs";
  static constexpr const char* kPods = "/api/v1/namespaces/gpu-healthcheck/pods";
  Remediation seen_;
};

TEST_F(RestartByJob, IsDoneInTheNextBootWhateverTheJobSays) {
  look();
  ASSERT_EQ(made(), 1U);
  EXPECT_EQ(machines_.asked, 0);
  const Json container = job()["spec"]["template"]["spec"]["containers"][0];
  EXPECT_EQ(container["command"],
            Json::array({"gpuward-exporter", "node-reboot", "--boot-id=boot-gpu-01"}));
  put_pod(fakes::running_status());
  pass(minutes(1));
  exit_job(0);
  pass(minutes(2));
  EXPECT_EQ(record().result, StepResult::kRunning);
  EXPECT_THAT(record().message, HasSubstr("waiting for the node to report a new boot ID"));
  boots("boot-2", false);
  pass(minutes(1));
  EXPECT_EQ(record().result, StepResult::kRunning);
  boots("boot-2");
  look();
  EXPECT_EQ(record().result, StepResult::kDone);
  EXPECT_EQ(value_at(record().facts, kCallFact), "accepted");
  EXPECT_EQ(made(), 1U);
}

// The shutdown ended the pod, or the restart removed it.
TEST_F(RestartByJob, IsDoneInTheNextBootAlsoIfTheJobHasFailed) {
  look();
  put_pod(fakes::running_status());
  exit_job(143);
  pass(minutes(2));
  EXPECT_EQ(record().result, StepResult::kRunning);
  boots("boot-2");
  look();
  EXPECT_EQ(record().result, StepResult::kDone);
}

TEST_F(RestartByJob, IsForAnOperatorIfItCannotBeDoneThere) {
  look();
  put_pod(fakes::running_status());
  exit_job(2, "process 1 is machined, not systemd");
  pass(minutes(1));
  expect_held("process 1 is machined");
  EXPECT_EQ(value_at(record().facts, kCallFact), "none");
  EXPECT_EQ(made(), 1U);
}

TEST_F(RestartByJob, HasNoCallIfTheContainerCannotStart) {
  look();
  put_pod(fakes::ended_pod_status("c", 128, "no such command", "StartError"));
  kube_.patch_status(job_path(), fakes::ended_job_status("Failed", "BackoffLimitExceeded"));
  pass(minutes(1));
  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_EQ(value_at(record().facts, kCallFact), "none");
  EXPECT_FALSE(record().facts.contains(kRestartsBeforeFact)) << "a cancel has nothing to wait for";
}

TEST_F(RestartByJob, IsForAnOperatorIfThePodNeverStarts) {
  look();
  pass(minutes(25));
  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_EQ(value_at(record().facts, kCallFact), "none");
  EXPECT_FALSE(kube_.has(job_path())) << "its pod would restart the machine later";
  EXPECT_EQ(made(), 1U);
}

// The restart ends the kubelet before it has reported that the container started.
TEST_F(RestartByJob, MayHaveRunIfTheKubeletReportsNoEndOfItsPod) {
  Policy policy = *policy_.get();
  policy.steps.erase(Severity::kIsolate);
  policy_.set(policy);
  look();
  put_pod({{"status", {{"phase", "Pending"}}}});
  pass(minutes(25));
  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_THAT(remediation().status.message,
              HasSubstr("the kubelet has not reported that the Job's container started"));
  EXPECT_EQ(value_at(record().facts, kCallFact), "unknown");
  remove_pod();
  cancel();
  pass(minutes(3));
  EXPECT_TRUE(node().unschedulable) << "the machine may restart";
  pass(minutes(15));
  EXPECT_FALSE(node().unschedulable);
}

TEST_F(RestartByJob, HasNoCallIfTheKubeletHasEndedThePodBeforeItRan) {
  look();
  put_pod({{"status", {{"phase", "Failed"}, {"reason", "DeadlineExceeded"}}}});
  kube_.patch_status(job_path(), fakes::ended_job_status("Failed", "BackoffLimitExceeded"));
  pass(minutes(25));
  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_EQ(value_at(record().facts, kCallFact), "none");
}

TEST_F(RestartByJob, LeavesTimeForTheRestartAfterTheLastStartOfThePod) {
  look();
  const Json spec = job()["spec"];
  EXPECT_EQ(spec["activeDeadlineSeconds"], 10 * 60);
  EXPECT_EQ(spec["template"]["spec"]["activeDeadlineSeconds"], 10 * 60);
}

// The pod may have run before another client deleted the Job.
TEST_F(RestartByJob, KeepsACancelledNodeCordonedAlsoIfTheJobIsGone) {
  look();
  put_pod(fakes::running_status());
  remove_pod();
  kube_.remove(job_path());
  pass(minutes(1));
  expect_held("no longer exists");
  cancel();
  pass(minutes(3));
  EXPECT_TRUE(node().unschedulable);
  pass(minutes(15));
  EXPECT_FALSE(node().unschedulable);
}

// A replica whose clock was ahead has written the time.
TEST_F(RestartByJob, WaitsForNoRestartThatCannotComeAnyMore) {
  look();
  put_pod(fakes::running_status());
  exit_job(0);
  pass(minutes(1));
  Remediation one = remediation();
  for (StepRecord& each : one.status.steps) {
    if (each.step == Step::kReboot)
      each.facts[kRestartsBeforeFact] = to_rfc3339_ms(clock_.wall() + std::chrono::hours(5));
  }
  ASSERT_TRUE(replica_->store.write_status(one));
  cancel();
  pass(minutes(2));
  EXPECT_FALSE(node().unschedulable);
}

// A reset that was given up may still be at work.
TEST_F(RestartByJob, WaitsForThePodOfAReset) {
  StepRecord reset;
  reset.step = Step::kGpuReset;
  reset.result = StepResult::kFailed;
  reset.severity = Severity::kReset;
  reset.finished_at = clock_.wall();
  reset.facts = {{kJobNamespaceFact, "gpu-healthcheck"}};
  Json pod = fakes::pod("reset", "gpu-01", {{"gpuward.dev/step", "gpu-reset"}});
  kube_.create(kPods, pod);
  kube_.patch_status(std::string(kPods) + "/reset", fakes::running_status());
  ASSERT_TRUE(reconcile());
  Remediation one = remediation();
  one.status.steps.push_back(reset);
  ASSERT_TRUE(replica_->store.write_status(one));
  look();
  pass(minutes(2));
  EXPECT_EQ(made(), 0U);
  EXPECT_THAT(remediation().status.message, HasSubstr("the pod of the step gpu-reset still runs"));
  pass(minutes(5));
  EXPECT_EQ(made(), 1U) << "it hangs, and the restart may be what helps";
}

TEST_F(RestartByJob, GivesWayToAWorseSeverityIfTheMachineStays) {
  look();
  put_pod(fakes::running_status());
  pass(minutes(1));
  exit_job(0);
  pass(minutes(25));
  EXPECT_EQ(record().result, StepResult::kFailed);
  EXPECT_EQ(value_at(record().facts, kCallFact), "accepted");
  EXPECT_EQ(remediation().status.escalated_to, Severity::kIsolate);
  EXPECT_EQ(made(), 1U);
}

// For example, the pod may have been evicted before it did anything.
TEST_F(RestartByJob, IsForAnOperatorIfNobodyKnowsWhetherTheRestartWasAskedFor) {
  look();
  put_pod(fakes::running_status());
  pass(minutes(1));
  exit_job(143);
  pass(minutes(25));
  expect_held("the node has reported no new boot ID");
  EXPECT_EQ(value_at(record().facts, kCallFact), "unknown");
}

TEST_F(RestartByJob, FailsIfTheNodeIsNotReadyInTheNextBoot) {
  look();
  put_pod(fakes::running_status());
  pass(minutes(1));
  boots("boot-2", false);
  pass(minutes(25));
  EXPECT_EQ(record().result, StepResult::kFailed);
  EXPECT_THAT(record().message, HasSubstr("not Ready"));
  EXPECT_EQ(remediation().status.escalated_to, Severity::kIsolate);
}

// From then on the restart counts, even if the Remediation ends.
TEST_F(RestartByJob, IsRecordedAsAcceptedOnceTheJobSaysSo) {
  look();
  put_pod(fakes::running_status());
  exit_job(0);
  pass(minutes(1));
  EXPECT_EQ(record().result, StepResult::kRunning);
  EXPECT_EQ(value_at(record().facts, kCallFact), "accepted");
}

TEST_F(RestartByJob, WaitsForAKubeletThatWouldStartIt) {
  boots(boot_, false);
  look();
  pass(minutes(3));
  EXPECT_EQ(made(), 0U);
  EXPECT_EQ(remediation().status.find(Step::kReboot), nullptr);
  EXPECT_THAT(remediation().status.message, HasSubstr("is not Ready"));
  boots(boot_);
  pass(minutes(1));
  EXPECT_EQ(made(), 1U);
}

// The intent already fixed which means restarts the machine.
TEST_F(RestartByJob, StaysWithItsJobWhenThePolicyNamesOtherMeans) {
  look();
  machines_.is_there = true;
  put_pod(fakes::running_status());
  pass(minutes(5));
  EXPECT_EQ(machines_.asked, 0);
  EXPECT_EQ(made(), 1U);
  boots("boot-2");
  look();
  EXPECT_EQ(record().result, StepResult::kDone);
}

TEST_F(RestartByJob, IsTakenBackByCancelBeforeItRuns) {
  look();
  ASSERT_EQ(made(), 1U);
  cancel();
  pass(minutes(1));
  EXPECT_FALSE(kube_.has(job_path()));
  EXPECT_FALSE(node().unschedulable);
  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
}

// The pod ran after the last look, and its result goes with its Job.
TEST_F(RestartByJob, KeepsACancelledNodeCordonedAlsoIfItsPodWasNotSeen) {
  look();
  put_pod(fakes::running_status());
  exit_job(0);
  cancel();
  pass(minutes(3));
  EXPECT_TRUE(node().unschedulable);
  pass(minutes(15));
  EXPECT_FALSE(node().unschedulable) << "the machine does not restart any more";
}

// gpuward holds the node when the time of the step is over, and an operator cancels.
TEST_F(RestartByJob, KeepsANodeCordonedThatIsCancelledWhenItsTimeIsOver) {
  Policy policy = *policy_.get();
  policy.steps[Severity::kReboot][3].timeout = minutes(2);
  policy.steps.erase(Severity::kIsolate);
  policy_.set(policy);
  look();
  put_pod(fakes::running_status());
  exit_job(0);
  pass(minutes(4));
  ASSERT_EQ(record().result, StepResult::kFailed);
  cancel();
  pass(minutes(3));
  EXPECT_TRUE(node().unschedulable);
  boots("boot-2");
  pass(minutes(1));
  EXPECT_FALSE(node().unschedulable);
}

// Any account that may create pods may write the label.
TEST_F(RestartByJob, TakesNoPodOfAnotherNamespaceForThatOfTheJob) {
  look();
  Json pod = fakes::pod("x", "gpu-01", {{"gpuward.dev/step", "reboot"}});
  kube_.create("/api/v1/namespaces/default/pods", pod);
  kube_.patch_status("/api/v1/namespaces/default/pods/x", fakes::running_status());
  cancel();
  pass(minutes(1));
  EXPECT_FALSE(node().unschedulable);
}

// A tenant's pod would start and then be killed by the restart.
TEST_F(RestartByJob, KeepsACancelledNodeCordonedUntilItHasRestarted) {
  look();
  put_pod(fakes::running_status());
  pass(minutes(1));
  exit_job(0);
  pass(minutes(1));
  cancel();
  pass(minutes(3));
  EXPECT_TRUE(node().unschedulable);
  boots("boot-2");
  pass(minutes(1));
  EXPECT_FALSE(node().unschedulable);
}

}  // namespace
}  // namespace gpuward::remediator
