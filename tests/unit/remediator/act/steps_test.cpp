// The steps after taint and cordon, scripted by the test: the conditions before each step, the
// records around it, and the step that follows.
#include <algorithm>
#include <map>

#include "remediator/act/actions/step_progress.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/step_call.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

PlannedStep with_approval(Step step) {
  PlannedStep plan = planned(step);
  plan.before.approval = true;
  return plan;
}

class StepsTest : public ClusterTest {
 protected:
  StepsTest() {
    clock_.advance(minutes(15));  // the startup grace is over
    policy.mode = Mode::kFull;
    plan(Severity::kReboot,
         {Step::kTaint, Step::kCordon, Step::kDrain, Step::kReboot, Step::kVerify, Step::kReturn});
    report(Severity::kReboot);
  }
  void plan(Severity severity, const std::vector<Step>& steps) {
    policy.steps[severity].clear();
    for (const Step step : steps) policy.steps[severity].push_back(planned(step));
    policy_.set(policy);
  }
  void report(Severity severity, const std::string& boot = "boot-gpu-01") {
    reports_.answer = report_of(severity, boot);
  }
  // The node has taint and cordon, and no further step has begun.
  void quarantine() {
    ASSERT_TRUE(take({signal()}));
    ASSERT_TRUE(reconcile());
    expect_quarantined();
  }
  void finish(Step step) {
    steps_[step].progress =
        StepProgress{.result = StepResult::kDone, .message = "done", .facts = {}, .look_again = {}};
    ASSERT_TRUE(reconcile());
  }
  const StepRecord* record(Step step) {
    last_ = remediation();
    return last_.status.find(step);
  }
  void annotate(const std::string& key, const std::string& value) {
    kube_.patch("/apis/gpuward.dev/v1alpha1/remediations/" + remediation().name,
                Json{{"metadata", {{"annotations", {{key, value}}}}}});
  }
  void expect_waiting(const std::string& guard, const std::string& says) {
    const RemediationStatus status = remediation().status;
    EXPECT_EQ(status.phase, Phase::kWaiting);
    EXPECT_EQ(status.rule, guard);
    EXPECT_THAT(status.message, HasSubstr(says));
  }

  Policy policy;
  Remediation last_;
};

// gpuward remembers the GPUs once a disruptive step runs for them. A report of another boot is
// about other faults.
TEST_F(StepsTest, RememberTheGpusThatWereBad) {
  quarantine();
  reports_.answer->gpus = {"1650"};
  ASSERT_TRUE(reconcile());
  finish(Step::kDrain);
  reports_.answer->gpus = {"1650", "1651"};
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(remediation().status.gpus, ElementsAre("1650", "1651"));

  report(Severity::kReboot, "another-boot");
  reports_.answer->gpus = {"1652"};
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(remediation().status.gpus, ElementsAre("1650", "1651"));
}

TEST_F(StepsTest, ARebootIsMarksDrainRebootVerifyAndReturn) {
  quarantine();

  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kDraining);
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
  finish(Step::kDrain);
  EXPECT_EQ(steps_[Step::kDrain].watched, 1);
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kRebooting);
  finish(Step::kReboot);
  ASSERT_TRUE(take({signal(Severity::kReboot, false)}));
  finish(Step::kVerify);
  clock_.advance(seconds(1));
  report(Severity::kNone);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_FALSE(node().unschedulable);
  EXPECT_THAT(slots_.asked,
              ElementsAre(HasSubstr("/cordon"), HasSubstr("/drain"), HasSubstr("/reboot")));
}

class ReturnOfAVerifiedNode : public StepsTest {
 protected:
  // A stop, an approval or a window delays the return by a day after that.
  void verify_yesterday() {
    quarantine();
    ASSERT_TRUE(reconcile());
    finish(Step::kDrain);
    ASSERT_TRUE(reconcile());
    finish(Step::kReboot);
    ASSERT_TRUE(take({signal(Severity::kReboot, false)}));
    ASSERT_TRUE(reconcile());
    permit_ = fail(ErrorKind::kCancelled, "stopped");
    finish(Step::kVerify);
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(node().unschedulable);
    clock_.advance(std::chrono::hours(24));
    permit_ = {};
  }
  void patch(const char* path, const Json& change) {
    kube_.patch(std::string("/api/v1/nodes/gpu-01") + path, change);
  }
  void expect_kept(const std::string& says) {
    ASSERT_TRUE(reconcile());
    EXPECT_TRUE(node().unschedulable);
    EXPECT_THAT(remediation().status.message, HasSubstr(says));
  }
};

TEST_F(ReturnOfAVerifiedNode, NeedsAReportOfThatMoment) {
  verify_yesterday();
  expect_kept("the report is too old");
  report(Severity::kIsolate);
  expect_kept("the report still has severity isolate");
  reports_.answer = fail(ErrorKind::kUnavailable, "no");
  expect_kept("Prometheus does not answer");
  report(Severity::kNone);
  ASSERT_TRUE(reconcile());
  EXPECT_FALSE(node().unschedulable);
  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
}

TEST_F(ReturnOfAVerifiedNode, NeedsAReadyNodeThatNoOtherRepairs) {
  verify_yesterday();
  report(Severity::kNone);
  const std::string sign = "nvidia.com/gpu-driver-upgrade-state";
  patch("", {{"metadata", {{"labels", {{sign, "drain-required"}}}}}});
  expect_kept("the GPU operator is upgrading the driver");
  patch("", {{"metadata", {{"labels", {{sign, "upgrade-required"}}}}}});
  patch("/status", {{"status", {{"conditions", {{{"type", "Ready"}, {"status", "False"}}}}}}});
  expect_kept("the node is not Ready");
  patch("/status", {{"status", {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
  ASSERT_TRUE(reconcile());
  EXPECT_FALSE(node().unschedulable);
}

// The look that wrote the intent could not change the Node.
TEST_F(ReturnOfAVerifiedNode, IsDecidedAgainIfItsRecordHasChangedMeanwhile) {
  verify_yesterday();
  report(Severity::kNone);
  kube_.add_fault({.kind = fakes::FaultKind::kUnavailable,
                   .method = "PATCH",
                   .path = "/api/v1/nodes/.*",
                   .times = -1});
  EXPECT_FALSE(reconcile(1));
  kube_.clear_faults();
  ASSERT_TRUE(node().unschedulable);
  ASSERT_TRUE(record(Step::kReturn));

  reports_.before = [&] { ASSERT_TRUE(take({signal()})); };
  (void)reconcile(1);

  EXPECT_TRUE(node().unschedulable);
}

TEST_F(ReturnOfAVerifiedNode, NeedsAVerificationOfThisBoot) {
  verify_yesterday();
  patch("/status", {{"status", {{"nodeInfo", {{"bootID", "next"}}}}}});
  report(Severity::kNone, "next");
  const int before = steps_[Step::kVerify].begun;
  ASSERT_TRUE(reconcile());
  EXPECT_TRUE(node().unschedulable);
  EXPECT_EQ(steps_[Step::kVerify].begun, before + 1);
  finish(Step::kVerify);
  ASSERT_TRUE(reconcile());
  EXPECT_FALSE(node().unschedulable);
}

TEST_F(StepsTest, AreIntendedBeforeTheyAreBegun) {
  quarantine();
  kube_.clear_requests();
  steps_[Step::kDrain].progress = fail(ErrorKind::kUnavailable, "cut off");

  EXPECT_FALSE(reconcile(1));

  ASSERT_TRUE(record(Step::kDrain));
  EXPECT_EQ(record(Step::kDrain)->result, StepResult::kIntended);
  EXPECT_EQ(record(Step::kDrain)->severity, Severity::kReboot);
  EXPECT_EQ(record(Step::kDrain)->facts.at("boot"), "boot-gpu-01");
}

// Its other settings are the defaults then.
TEST_F(StepsTest, KeepTheExcludedNamespacesOfADrainThatThePolicyHasNoMore) {
  policy.excluded.namespaces = {"billing"};
  policy_.set(policy);
  quarantine();
  ASSERT_TRUE(reconcile());
  plan(Severity::kReboot, {Step::kTaint, Step::kCordon});

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].watched, 1);
  EXPECT_THAT(steps_[Step::kDrain].step.drain.excluded_namespaces, ElementsAre("billing"));
}

// Something crashed after the intent: the call for the restart may or may not have been made.
TEST_F(StepsTest, AreNeverBegunTwice) {
  quarantine();
  steps_[Step::kDrain].progress->result = StepResult::kDone;
  ASSERT_TRUE(reconcile());
  steps_[Step::kReboot].progress = fail(ErrorKind::kUnavailable, "cut off");
  EXPECT_FALSE(reconcile(1));
  restart();
  steps_[Step::kReboot].progress = StepProgress{};

  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].begun, 1);
  EXPECT_EQ(steps_[Step::kReboot].watched, 2);
  EXPECT_EQ(steps_[Step::kReboot].facts.at("boot"), "boot-gpu-01");
}

TEST_F(StepsTest, AreBegunAgainIfTheySayThatNothingWasDone) {
  quarantine();
  steps_[Step::kDrain].progress = StepProgress{
      .result = StepResult::kIntended, .message = "not now", .facts = {}, .look_again = {}};
  ASSERT_TRUE(reconcile());
  EXPECT_FALSE(record(Step::kDrain));
  EXPECT_EQ(remediation().status.phase, Phase::kWaiting);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 2);
}

// A crash between the intent and the action, and the step can tell that nothing was done. gpuward
// checks all conditions of the step again.
TEST_F(StepsTest, AreBegunAfreshIfALaterLookSaysThatNothingWasDone) {
  quarantine();
  steps_[Step::kDrain].progress = fail(ErrorKind::kUnavailable, "cut off");
  EXPECT_FALSE(reconcile(1));
  steps_[Step::kDrain].progress = StepProgress{
      .result = StepResult::kIntended, .message = "not made", .facts = {}, .look_again = {}};
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kDrain].watched, 1);
  report(Severity::kNone);

  ASSERT_TRUE(reconcile());

  expect_waiting("guard.evidence", "drain needs fresh evidence");
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

TEST_F(StepsTest, WaitForEvidenceThatIsFreshOfThisBootAndBadEnough) {
  quarantine();
  struct Row {
    const char* says;
    std::function<void()> make;
  };
  const Row rows[] = {
      {"no report", [&] { reports_.answer = fail(ErrorKind::kNotFound, "no report"); }},
      {"Prometheus does not answer",
       [&] { reports_.answer = fail(ErrorKind::kTimeout, "after 812 ms"); }},
      {"another boot", [&] { report(Severity::kReboot, "boot-old"); }},
      {"has severity reset", [&] { report(Severity::kReset); }},
      {"only a line of the kernel log",
       [&] { reports_.answer->confirmed_severity = Severity::kMonitor; }},
      {"too old", [&] { clock_.advance(minutes(3)); }},
  };
  for (const Row& row : rows) {
    report(Severity::kReboot);
    row.make();
    ASSERT_TRUE(reconcile());
    expect_waiting("guard.evidence", row.says);
    EXPECT_TRUE(look_.look_again.has_value());
  }
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);

  report(Severity::kReboot);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

TEST_F(StepsTest, AskForEvidenceAgainBeforeTheNextHarm) {
  quarantine();
  ASSERT_TRUE(reconcile());
  finish(Step::kDrain);
  report(Severity::kNone);

  ASSERT_TRUE(reconcile());

  expect_waiting("guard.evidence", "reboot needs fresh evidence");
  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
}

TEST_F(StepsTest, TakeNothingFromANodeThatNobodyComplainsAboutAnyMore) {
  quarantine();
  ASSERT_TRUE(reconcile());
  finish(Step::kDrain);
  ASSERT_TRUE(take({signal(Severity::kReboot, false)}));

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  EXPECT_THAT(remediation().status.message, HasSubstr("the alerts ended"));
}

// One episode ends twice. A repeat contradicted the first end, so that the second may be forged
// too. The exporter still measures the fault.
TEST_F(StepsTest, GoOnThroughEndsThatHaveBeenContradictedAsLongAsTheReportConfirms) {
  const AlertSignal fires = signal();
  ASSERT_TRUE(take({fires}));
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(take({signal(Severity::kReboot, false)}));
  clock_.advance(minutes(15));
  ASSERT_EQ(take({fires})->accepted, 1U);
  clock_.advance(minutes(1));
  AlertSignal again = fires;
  again.firing = false;
  again.ends_at = clock_.wall();
  ASSERT_EQ(take({again})->accepted, 1U);
  report(Severity::kNone);
  reports_.answer = fail(ErrorKind::kNotFound, "no report");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
  report(Severity::kReboot);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

TEST_F(StepsTest, ReturnANodeAfterAContradictedEndOnceTheReportSaysThatItIsWell) {
  policy.return_to_service.enabled = true;
  policy_.set(policy);
  const AlertSignal fires = signal();
  ASSERT_TRUE(take({fires}));
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(take({signal(Severity::kReboot, false)}));
  clock_.advance(minutes(15));
  ASSERT_TRUE(take({fires}));
  AlertSignal again = fires;
  again.firing = false;
  again.ends_at = clock_.wall();
  ASSERT_TRUE(take({again}));
  clock_.advance(minutes(1));
  report(Severity::kNone);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
}

// ---- The severity that gpuward acts on falls

class FallingSeverity : public StepsTest {
 protected:
  FallingSeverity() {
    plan(Severity::kIsolate, {Step::kTaint, Step::kCordon, Step::kDrain, Step::kTerminate});
    policy.steps[Severity::kReboot][2].before.approval = true;
    policy.steps[Severity::kIsolate][2].before.approval = true;
    policy_.set(policy);
  }
  AlertSignal isolate(bool firing) {
    AlertSignal worst = signal(Severity::kIsolate, firing);
    worst.fingerprint = "false";
    return worst;
  }
  void falsely_isolate() {
    ASSERT_TRUE(take({signal(), isolate(true)}));
    ASSERT_TRUE(reconcile());
    ASSERT_EQ(our_taint_on(node()), "isolate");
    ASSERT_TRUE(reconcile());
    expect_waiting("guard.evidence", "has severity reboot");
  }
};

// The informers' last report leaves the severity open: a slot taken for it would be for the wrong
// one.
TEST_F(FallingSeverity, TakesNoSlotBeforeTheSeverityIsKnown) {
  slots_.answer = SlotRefusal{.guard = "budget.pool", .message = "the pool is full"};
  ASSERT_TRUE(take({signal(), isolate(true)}));
  ASSERT_TRUE(reconcile());
  expect_waiting("budget.pool", "the pool is full");
  clock_.advance(minutes(1));
  ASSERT_TRUE(take({isolate(false)}));
  clock_.advance(minutes(1));
  report(Severity::kReboot);
  slots_.asked.clear();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().evidence_severity(), Severity::kReboot);
  EXPECT_THAT(slots_.asked, IsEmpty());
}

TEST_F(FallingSeverity, WaitsForTheEndOfTheAlertAndANewerReport) {
  falsely_isolate();
  clock_.advance(minutes(1));
  ASSERT_TRUE(take({isolate(false)}));

  ASSERT_TRUE(reconcile());
  expect_waiting("guard.evidence", "has severity reboot");
  EXPECT_EQ(remediation().evidence_severity(), Severity::kIsolate);
  clock_.advance(minutes(1));
  report(Severity::kReboot);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().severity, Severity::kIsolate);
  EXPECT_EQ(remediation().evidence_severity(), Severity::kReboot);
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(our_taint_on(node()), "reboot");
  ASSERT_TRUE(reconcile());
  expect_waiting("guard.approval", "drain waits for approval");
  EXPECT_THAT(remediation().status.history,
              ElementsAre(HasSubstr("the alerts of severity isolate ended and a newer report "
                                    "shows severity reboot; severity is now reboot")));
}

TEST_F(FallingSeverity, StaysIfTheFindingIsLatched) {
  report(Severity::kIsolate);
  ASSERT_TRUE(take({signal(), isolate(true)}));
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(take({isolate(false)}));
  clock_.advance(minutes(1));
  report(Severity::kIsolate);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().evidence_severity(), Severity::kIsolate);
  EXPECT_EQ(our_taint_on(node()), "isolate");
}

TEST_F(FallingSeverity, RisesAgainWithTheNextAlert) {
  falsely_isolate();
  ASSERT_TRUE(take({isolate(false)}));
  clock_.advance(minutes(1));
  report(Severity::kReboot);
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().evidence_severity(), Severity::kReboot);
  clock_.advance(minutes(10));

  ASSERT_TRUE(take({isolate(true)}));
  ASSERT_TRUE(take({isolate(false)}));

  EXPECT_EQ(remediation().evidence_severity(), Severity::kIsolate) << "no report has cleared it";
}

TEST_F(FallingSeverity, AsksForTheYesAnew) {
  report(Severity::kIsolate);
  ASSERT_TRUE(take({signal(), isolate(true)}));
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  const std::string token = remediation().status.approval->token;
  annotate("gpuward.dev/approved-by", "alice");
  annotate("gpuward.dev/approve", token);
  ASSERT_TRUE(take({isolate(false)}));
  clock_.advance(minutes(1));
  report(Severity::kReboot);

  ASSERT_TRUE(reconcile());
  EXPECT_FALSE(remediation().status.approval);
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  expect_waiting("guard.approval", "drain waits for approval");
  EXPECT_NE(remediation().status.approval->token, token);
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
}

TEST_F(FallingSeverity, SeesAStepOfTheMachineToItsEnd) {
  plan(Severity::kIsolate, {Step::kTaint, Step::kCordon, Step::kDrain, Step::kReboot});
  report(Severity::kIsolate);
  ASSERT_TRUE(take({signal(), isolate(true)}));
  ASSERT_TRUE(reconcile());
  steps_[Step::kDrain].progress->result = StepResult::kDone;
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(steps_[Step::kReboot].begun, 1);
  finish(Step::kReboot);
  ASSERT_TRUE(take({isolate(false)}));
  clock_.advance(minutes(1));
  report(Severity::kReboot);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().evidence_severity(), Severity::kIsolate);
}

// ---- More alerts than gpuward keeps

TEST_F(StepsTest, DoNotReturnANodeWhileAlertsThatAreNotKeptMayFire) {
  policy.return_to_service.enabled = true;
  policy_.set(policy);
  std::vector<AlertSignal> many;
  for (std::size_t i = 0; i <= kMaxEvidence; ++i) {
    many.push_back(signal());
    many.back().fingerprint = "f" + std::to_string(i);
  }
  ASSERT_TRUE(take(many));
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().alerts.size(), kMaxEvidence);
  for (AlertSignal& one : many) {
    one.firing = false;
    one.ends_at = clock_.wall();
  }
  ASSERT_TRUE(take(many));
  clock_.advance(minutes(1));
  report(Severity::kNone);
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kQuarantined);
  EXPECT_THAT(remediation().status.message, HasSubstr("alert limit reached"));

  clock_.advance(kDroppedLast);
  report(Severity::kNone);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
}

class FixedAlerts final : public ActiveAlerts {
 public:
  Result<std::map<std::string, Severity>> active_on(const std::string&) override { return answer; }
  Result<std::set<std::string>> all_firing(std::chrono::milliseconds) override {
    return std::set<std::string>();
  }
  Result<std::map<std::string, Severity>> answer =
      std::map<std::string, Severity>{{"ab", Severity::kReboot}};
};

TEST_F(StepsTest, TakeASilenceForAVeto) {
  FixedAlerts alerts;
  alerts_ = &alerts;
  restart();
  quarantine();
  alerts.answer = std::map<std::string, Severity>{{"other", Severity::kReboot}};
  ASSERT_TRUE(reconcile());
  expect_waiting("guard.silence", "Alertmanager has no unsilenced alert");
  // A sender may use the fingerprint of a milder alert for its own.
  alerts.answer = std::map<std::string, Severity>{{"ab", Severity::kMonitor}};
  ASSERT_TRUE(reconcile());
  expect_waiting("guard.silence", "Alertmanager has no unsilenced alert");
  alerts.answer = fail(ErrorKind::kTimeout, "no word");
  ASSERT_TRUE(reconcile());
  expect_waiting("guard.alertmanager", "Alertmanager does not answer");
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);

  alerts.answer =
      std::map<std::string, Severity>{{"other", Severity::kNone}, {"ab", Severity::kReboot}};
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

TEST_F(StepsTest, YieldToOthersWhoRepairTheNode) {
  quarantine();
  kube_.patch("/api/v1/nodes/gpu-01",
              Json{{"metadata", {{"labels", {{"nvidia.com/mig.config.state", "pending"}}}}}});

  ASSERT_TRUE(reconcile());

  expect_waiting("guard.other-repairer", "MIG manager");
}

TEST_F(StepsTest, WaitForASlot) {
  quarantine();
  slots_.answer = SlotRefusal{"budget.pool", "2 of 2 nodes of pool a are taken"};

  ASSERT_TRUE(reconcile());

  expect_waiting("budget.pool", "2 of 2");
  slots_.answer = fail(ErrorKind::kUnavailable, "no ledger");
  ASSERT_TRUE(reconcile());
  expect_waiting("budget.ledger", "cannot be read");
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
}

// A taint does not disturb pods that already run.
TEST_F(StepsTest, TaintAtOnceAndCordonWhenTheCapAllowsIt) {
  slots_.answer = SlotRefusal{.guard = "budget.cordon",
                              .message = "1 of 1 nodes of pool a are cordoned",
                              .has_taint = true};
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(our_taint_on(node()), "reboot");
  EXPECT_FALSE(node().unschedulable);
  EXPECT_THAT(remediation().status.message, HasSubstr("the cordon waits: 1 of 1"));
  EXPECT_EQ(remediation().status.rule, "budget.cordon");
  ASSERT_TRUE(reconcile());
  kube_.clear_requests();
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(writes(), 0U);

  slots_.answer = std::nullopt;
  ASSERT_TRUE(reconcile());

  expect_quarantined();
}

TEST_F(StepsTest, SayThatTheCordonWaitsForALedgerThatCannotBeRead) {
  slots_.answer = fail(ErrorKind::kInvalid, "no ledger");
  ASSERT_TRUE(take({signal()}));

  ASSERT_TRUE(reconcile());

  EXPECT_FALSE(node().unschedulable);
  EXPECT_EQ(remediation().status.rule, "budget.ledger");
}

TEST_F(StepsTest, DrainAfterABufferAsDrainoDoes) {
  policy.steps[Severity::kReboot][2].before.delay = minutes(10);
  policy_.set(policy);
  quarantine();

  ASSERT_TRUE(reconcile());
  expect_waiting("wait.delay", "drain waits until");
  clock_.advance(minutes(10));
  report(Severity::kReboot);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

TEST_F(StepsTest, WaitForAHumansYesToExactlyThisStep) {
  policy.steps[Severity::kReboot][2] = with_approval(Step::kDrain);
  policy_.set(policy);
  quarantine();
  ASSERT_TRUE(reconcile());
  expect_waiting("guard.approval", "gpuwardctl approve gpu-01");
  const std::string token = remediation().status.approval->token;
  annotate("gpuward.dev/approved-by", "alice");

  annotate("gpuward.dev/approve", "0000000000");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
  annotate("gpuward.dev/approve", token);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
  EXPECT_EQ(remediation().status.approval->by, "alice");
  EXPECT_TRUE(remediation().status.approval->seen_at);
}

TEST_F(StepsTest, AskNobodyToApproveARestartThatWillNotBeDone) {
  auto& plan = policy.steps[Severity::kReboot];
  *std::ranges::find(plan, Step::kReboot, &PlannedStep::step) = with_approval(Step::kReboot);
  policy_.set(policy);
  slots_.is_worn_out = fail(ErrorKind::kUnavailable, "no ledger");
  quarantine();
  ASSERT_TRUE(reconcile());
  finish(Step::kDrain);
  ASSERT_TRUE(reconcile());
  expect_waiting("budget.ledger", "cannot be read");
  EXPECT_FALSE(remediation().status.approval);
  slots_.is_worn_out = std::nullopt;
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(awaits_approval(remediation()));

  slots_.is_worn_out = SlotRefusal{
      .guard = "escalation.repeated", .message = "it was restarted already", .is_worn_out = true};
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.escalated_to, Severity::kIsolate);
  EXPECT_FALSE(remediation().status.approval);
}

TEST_F(StepsTest, WaitForAHumansYesBeforeTheReturnToo) {
  policy.steps[Severity::kReboot].back() = with_approval(Step::kReturn);
  policy_.set(policy);
  quarantine();
  ASSERT_TRUE(reconcile());
  finish(Step::kDrain);
  ASSERT_TRUE(reconcile());
  finish(Step::kReboot);
  ASSERT_TRUE(take({signal(Severity::kReboot, false)}));
  ASSERT_TRUE(reconcile());
  finish(Step::kVerify);
  ASSERT_TRUE(reconcile());

  expect_waiting("guard.approval", "return-to-service waits for approval");
  EXPECT_TRUE(node().unschedulable);
  ASSERT_TRUE(remediation().status.approval);
  annotate("gpuward.dev/approved-by", "alice");
  annotate("gpuward.dev/approve", remediation().status.approval->token);
  ASSERT_TRUE(reconcile());
  expect_waiting("step.return-to-service", "the report is not newer");
  EXPECT_TRUE(node().unschedulable);
  clock_.advance(minutes(1));
  report(Severity::kNone);
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
  EXPECT_FALSE(node().unschedulable);
}

TEST_F(StepsTest, TakeNoYesThatIsOlderThanAnHour) {
  policy.steps[Severity::kReboot][2] = with_approval(Step::kDrain);
  policy_.set(policy);
  quarantine();
  ASSERT_TRUE(reconcile());
  const std::string token = remediation().status.approval->token;
  annotate("gpuward.dev/approved-by", "alice");
  annotate("gpuward.dev/approve", token);
  slots_.answer = SlotRefusal{"budget.pool", "full"};
  ASSERT_TRUE(reconcile());
  slots_.answer = std::nullopt;
  clock_.advance(minutes(61));
  report(Severity::kReboot);

  ASSERT_TRUE(reconcile());

  expect_waiting("guard.approval", "waits for approval");
  EXPECT_NE(remediation().status.approval->token, token);
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
}

TEST_F(StepsTest, TakeAYesToOtherEvidenceForNone) {
  policy.steps[Severity::kReboot][2] = with_approval(Step::kDrain);
  policy_.set(policy);
  quarantine();
  ASSERT_TRUE(reconcile());
  annotate("gpuward.dev/approved-by", "alice");
  annotate("gpuward.dev/approve", remediation().status.approval->token);
  AlertSignal other = signal();
  other.fingerprint = "cd";
  ASSERT_TRUE(take({other}));

  ASSERT_TRUE(reconcile());

  expect_waiting("guard.approval", "waits for approval");
}

TEST_F(StepsTest, GoNoFurtherAfterAFailedDrain) {
  quarantine();
  steps_[Step::kDrain].progress = StepProgress{
      .result = StepResult::kFailed, .message = "pod a/b", .facts = {}, .look_again = {}};
  ASSERT_TRUE(reconcile());

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_THAT(remediation().status.message, HasSubstr("pod a/b"));
  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  EXPECT_TRUE(node().unschedulable);
  EXPECT_TRUE(replica_->announcer.told.back().warning);
}

TEST_F(StepsTest, GoOnWithoutEvidenceThatCouldNotBeCollected) {
  plan(Severity::kReboot, {Step::kTaint, Step::kCordon, Step::kCollectEvidence, Step::kDrain});
  quarantine();
  steps_[Step::kCollectEvidence].progress->result = StepResult::kFailed;
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kCollecting);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kCollectEvidence].begun, 1);
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
  EXPECT_EQ(record(Step::kCollectEvidence)->result, StepResult::kFailed);
}

TEST_F(StepsTest, TakeTheJobsOneByOneAndASlotForTheResetOnly) {
  plan(Severity::kReboot, {Step::kTaint, Step::kCordon, Step::kCollectEvidence, Step::kDrain,
                           Step::kGpuReset, Step::kQuarantineJob});
  quarantine();
  for (const auto& [step, phase] :
       {std::pair(Step::kCollectEvidence, Phase::kCollecting),
        std::pair(Step::kDrain, Phase::kDraining), std::pair(Step::kGpuReset, Phase::kResetting),
        std::pair(Step::kQuarantineJob, Phase::kTesting)}) {
    ASSERT_TRUE(reconcile());
    EXPECT_EQ(remediation().status.phase, phase);
    finish(step);
  }

  EXPECT_THAT(slots_.asked,
              ElementsAre(HasSubstr("/cordon"), HasSubstr("/drain"), HasSubstr("/gpu-reset")));
}

TEST_F(StepsTest, HoldTheNodeIfTheFailureSaysNothingOfIt) {
  plan(Severity::kReset, {Step::kTaint, Step::kCordon, Step::kDrain, Step::kGpuReset});
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  steps_[Step::kDrain].progress->result = StepResult::kDone;
  steps_[Step::kGpuReset].progress = StepProgress{
      .result = StepResult::kFailed, .message = "no image", .facts = {}, .look_again = {}};
  steps_[Step::kGpuReset].adds = {{kNeedsOperatorFact, "true"}};
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_THAT(remediation().status.message, HasSubstr("gpu-reset failed: no image"));
  EXPECT_FALSE(remediation().status.escalated_to);
}

TEST_F(StepsTest, EscalateAResetThatDidNotHelp) {
  plan(Severity::kReset, {Step::kTaint, Step::kCordon, Step::kDrain, Step::kGpuReset});
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  steps_[Step::kDrain].progress->result = StepResult::kDone;
  steps_[Step::kGpuReset].progress->result = StepResult::kFailed;

  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.escalated_to, Severity::kReboot);
}

// Two disruptive steps must not run at once: gpuward finishes the reset before it begins another
// step.
TEST_F(StepsTest, SeeAResetToItsEndBeforeAnythingElse) {
  plan(Severity::kReset, {Step::kTaint, Step::kCordon, Step::kDrain, Step::kGpuReset});
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  steps_[Step::kDrain].progress->result = StepResult::kDone;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kResetting);
  ASSERT_TRUE(take({signal(Severity::kReboot)}));

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kGpuReset].watched, 1);
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

TEST_F(StepsTest, AreNotAllowedToResetOrRestartANodeThatHasRestartedSinceTheIntent) {
  for (const auto& [step, fact] :
       {std::pair(Step::kGpuReset, kJobBootFact), std::pair(Step::kReboot, kBootBeforeFact)}) {
    steps_[step].more_before = {{fact, "boot-gpu-01"}};
    steps_[step].before = [this] {
      kube_.patch_status("/api/v1/nodes/gpu-01",
                         Json{{"status", {{"nodeInfo", {{"bootID", "boot-2"}}}}}});
    };
  }
  plan(Severity::kReset, {Step::kTaint, Step::kCordon, Step::kDrain, Step::kGpuReset});
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  steps_[Step::kDrain].progress->result = StepResult::kDone;

  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reconcile());

  ASSERT_EQ(steps_[Step::kGpuReset].begun, 1);
  ASSERT_FALSE(steps_[Step::kGpuReset].permitted);
  EXPECT_THAT(steps_[Step::kGpuReset].permitted.error().message, HasSubstr("has restarted since"));
}

TEST_F(StepsTest, MayGiveUpAJobAfterARestartOfItsNode) {
  steps_[Step::kGpuReset].more_before = {{kJobBootFact, "boot-gpu-01"}};
  plan(Severity::kReset, {Step::kTaint, Step::kCordon, Step::kDrain, Step::kGpuReset});
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  steps_[Step::kDrain].progress->result = StepResult::kDone;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reconcile());
  kube_.patch_status("/api/v1/nodes/gpu-01",
                     Json{{"status", {{"nodeInfo", {{"bootID", "boot-2"}}}}}});

  ASSERT_TRUE(reconcile());

  ASSERT_EQ(steps_[Step::kGpuReset].watched, 1);
  EXPECT_TRUE(steps_[Step::kGpuReset].permitted);
}

// Hours may pass between a drain and the approval of the restart.
TEST_F(StepsTest, DrainAgainWhatCameSinceTheDrain) {
  quarantine();
  finish(Step::kDrain);
  steps_[Step::kDrain].undoing =
      StepUndone{.what = "pod default/train came", .can_be_redone = true};
  steps_[Step::kDrain].progress->result = StepResult::kRunning;

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  EXPECT_EQ(remediation().status.phase, Phase::kDraining);
  EXPECT_EQ(record(Step::kDrain)->result, StepResult::kRunning);
  EXPECT_THAT(remediation().status.message, HasSubstr("default/train"));

  steps_[Step::kDrain].undoing = std::nullopt;
  finish(Step::kDrain);
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kReboot].begun, 1);
}

TEST_F(StepsTest, WaitForWhatCameSinceTheDrainAndMayNotBeDisrupted) {
  quarantine();
  finish(Step::kDrain);
  steps_[Step::kDrain].undoing = StepUndone{.what = "pod default/agent is protected"};

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  EXPECT_EQ(remediation().status.phase, Phase::kWaiting);
  EXPECT_THAT(remediation().status.message,
              HasSubstr("reboot waits: pod default/agent is protected"));
  EXPECT_EQ(record(Step::kDrain)->result, StepResult::kDone);
}

TEST_F(StepsTest, AreNotBegunWhileItIsUnknownWhatCameSinceTheDrain) {
  quarantine();
  finish(Step::kDrain);
  steps_[Step::kDrain].undoing = fail(ErrorKind::kUnavailable, "no answer");

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  EXPECT_THAT(remediation().status.message, HasSubstr("no answer"));
}

TEST_F(StepsTest, AreNotTakenOnAMachineThatTwoNodesClaim) {
  Json other = fakes::ready_node("gpu-02");
  other["spec"]["providerID"] = node().provider_id;
  kube_.create("/api/v1/nodes", other);
  quarantine();
  finish(Step::kDrain);

  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  EXPECT_THAT(remediation().status.message, HasSubstr("node gpu-02 has the same spec.providerID"));

  kube_.remove("/api/v1/nodes/gpu-02");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kReboot].begun, 1);
}

// The hour of an approval runs while the drain resumes.
TEST_F(StepsTest, ForgetNoApprovalWhileTheDrainResumes) {
  auto& plan = policy.steps[Severity::kReboot];
  *std::ranges::find(plan, Step::kReboot, &PlannedStep::step) = with_approval(Step::kReboot);
  policy_.set(policy);
  quarantine();
  ASSERT_TRUE(reconcile());
  finish(Step::kDrain);
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(awaits_approval(remediation()));
  annotate("gpuward.dev/approved-by", "alice");
  annotate("gpuward.dev/approve", remediation().status.approval->token);
  steps_[Step::kDrain].undoing = StepUndone{.what = "a pod came", .can_be_redone = true};
  steps_[Step::kDrain].progress->result = StepResult::kRunning;
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kDraining);
  EXPECT_TRUE(remediation().status.approval->seen_at);

  clock_.advance(std::chrono::hours(2));
  report(Severity::kReboot);
  steps_[Step::kDrain].undoing = std::nullopt;
  finish(Step::kDrain);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  EXPECT_TRUE(awaits_approval(remediation()));
}

TEST_F(StepsTest, ResumeNoDrainOutsideOfItsWindow) {
  MaintenanceWindow nights;
  nights.name = "nights";
  nights.duration = std::chrono::hours(1);
  policy.windows = {nights};
  quarantine();
  finish(Step::kDrain);
  policy.steps[Severity::kReboot][2].before.window = "nights";
  policy_.set(policy);
  steps_[Step::kDrain].undoing = StepUndone{.what = "a pod came", .can_be_redone = true};
  clock_.advance(std::chrono::hours(5));
  report(Severity::kReboot);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(record(Step::kDrain)->result, StepResult::kDone);
  EXPECT_THAT(remediation().status.message, HasSubstr("a pod came; drain waits for the window"));
  EXPECT_EQ(remediation().status.rule, "wait.window");
}

TEST_F(StepsTest, HoldANodeToWhichPodsComeAfterEachDrain) {
  quarantine();
  steps_[Step::kDrain].undoing =
      StepUndone{.what = "pod default/train came", .can_be_redone = true};
  steps_[Step::kDrain].progress->result = StepResult::kDone;

  for (int i = 0; i < 20; ++i) ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_THAT(remediation().status.message, HasSubstr("pod default/train came, after 5 drains"));
}

TEST_F(StepsTest, FailWhenTheirTimeIsOver) {
  quarantine();
  steps_[Step::kDrain].progress->result = StepResult::kDone;
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kRebooting);
  steps_[Step::kReboot].adds = {{kCallFact, "accepted"}};

  pass(minutes(21));

  EXPECT_EQ(record(Step::kReboot)->result, StepResult::kFailed);
  EXPECT_THAT(record(Step::kReboot)->message, HasSubstr("not done in time"));
}

TEST_F(StepsTest, EscalateIfTheyDidNotHelp) {
  plan(Severity::kIsolate, {Step::kTaint, Step::kCordon});
  quarantine();
  steps_[Step::kDrain].progress->result = StepResult::kDone;
  ASSERT_TRUE(reconcile());
  steps_[Step::kReboot].progress = StepProgress{
      .result = StepResult::kFailed, .message = "no such chassis", .facts = {}, .look_again = {}};
  steps_[Step::kReboot].adds = {{kCallFact, "accepted"}};
  ASSERT_TRUE(reconcile());

  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.escalated_to, Severity::kIsolate);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(our_taint_on(node()), "isolate");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_THAT(remediation().status.message, HasSubstr("after reboot failed: no such chassis"));
  EXPECT_THAT(remediation().status.history,
              ElementsAre(HasSubstr("drain done"), HasSubstr("reboot failed"),
                          HasSubstr("escalated to severity isolate")));
}

// CONTRACTS A: a node that fails its quarantine is replaced.
TEST_F(StepsTest, EscalateIfTheQuarantineFails) {
  plan(Severity::kReboot, {Step::kTaint, Step::kCordon, Step::kDrain, Step::kQuarantineJob});
  plan(Severity::kIsolate, {Step::kTaint, Step::kCordon});
  quarantine();
  steps_[Step::kDrain].progress->result = StepResult::kDone;
  ASSERT_TRUE(reconcile());
  steps_[Step::kQuarantineJob].progress = StepProgress{
      .result = StepResult::kFailed, .message = "a check failed", .facts = {}, .look_again = {}};
  ASSERT_TRUE(reconcile());

  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.escalated_to, Severity::kIsolate);
}

class StepsOfTheHealthSuite : public StepsTest {
 protected:
  StepsOfTheHealthSuite() {
    policy.steps = default_plans({.preset = Preset::kHealthSuite});
    policy_.set(policy);
    report(Severity::kReset);
  }
  // The pods have left the node.
  void drain_at_reset() {
    ASSERT_TRUE(take({signal(Severity::kReset)}));
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(reconcile());
    finish(Step::kDrain);
    ASSERT_TRUE(reconcile());
  }
  void fail(Step step) {
    steps_[step].progress = StepProgress{
        .result = StepResult::kFailed, .message = "it failed", .facts = {}, .look_again = {}};
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(reconcile());
  }
};

TEST_F(StepsOfTheHealthSuite, ReplaceANodeThatFailsItsQuarantineAfterAReset) {
  drain_at_reset();
  finish(Step::kGpuReset);
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(steps_[Step::kQuarantineJob].begun, 1);

  fail(Step::kQuarantineJob);

  EXPECT_EQ(remediation().status.escalated_to, Severity::kIsolate);
  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
}

TEST_F(StepsOfTheHealthSuite, ReturnANodeThatPassesItsQuarantine) {
  drain_at_reset();
  finish(Step::kGpuReset);
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(our_taint_on(node()));
  ASSERT_TRUE(node().unschedulable);

  ASSERT_TRUE(take({signal(Severity::kReset, false)}));
  finish(Step::kQuarantineJob);
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(steps_[Step::kVerify].begun, 1) << "a passed quarantine does not return it by itself";
  finish(Step::kVerify);
  clock_.advance(seconds(1));
  report(Severity::kNone);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_FALSE(node().unschedulable);
}

TEST_F(StepsOfTheHealthSuite, RestartANodeWhoseResetFails) {
  drain_at_reset();

  fail(Step::kGpuReset);

  EXPECT_EQ(remediation().status.escalated_to, Severity::kReboot);
  EXPECT_EQ(steps_[Step::kQuarantineJob].begun, 0);
}

// An operator can see the progress in the Remediation.
TEST_F(StepsTest, RecordTheCordonAndTheDrainWithTheirTimes) {
  quarantine();
  ASSERT_NE(record(Step::kCordon), nullptr);
  EXPECT_EQ(record(Step::kCordon)->result, StepResult::kDone);
  EXPECT_TRUE(record(Step::kCordon)->finished_at);
  EXPECT_EQ(record(Step::kDrain), nullptr);

  ASSERT_TRUE(reconcile());
  ASSERT_NE(record(Step::kDrain), nullptr);
  EXPECT_EQ(record(Step::kDrain)->result, StepResult::kRunning);

  finish(Step::kDrain);
  EXPECT_EQ(record(Step::kDrain)->result, StepResult::kDone);
  EXPECT_TRUE(record(Step::kDrain)->finished_at);
}

TEST_F(StepsTest, AreTakenAnewWhenTheNodeGetsWorse) {
  plan(Severity::kReset, {Step::kTaint, Step::kCordon, Step::kDrain});
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  ASSERT_TRUE(reconcile());
  steps_[Step::kDrain].progress->result = StepResult::kDone;
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(record(Step::kDrain)->severity, Severity::kReset);
  ASSERT_TRUE(take({signal(Severity::kReboot)}));

  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(our_taint_on(node()), "reboot");
  EXPECT_EQ(steps_[Step::kDrain].begun, 2);
  EXPECT_EQ(record(Step::kDrain)->severity, Severity::kReboot);
}

// gpuward waits for a machine that restarts, whatever signals arrive meanwhile.
TEST_F(StepsTest, SeeARestartToItsEndBeforeAnythingElse) {
  plan(Severity::kIsolate, {Step::kTaint, Step::kCordon, Step::kDrain});
  quarantine();
  steps_[Step::kDrain].progress->result = StepResult::kDone;
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(take({signal(Severity::kIsolate)}));

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].watched, 1);
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

TEST_F(StepsTest, StopWhileNothingMayBeChanged) {
  quarantine();
  permit_ = fail(ErrorKind::kCancelled, "the stop switch is on");

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
  EXPECT_EQ(remediation().status.rule, "guard.stop");
  EXPECT_THAT(remediation().status.message, HasSubstr("the stop switch is on"));
  permit_ = {};
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

TEST_F(StepsTest, TouchNoNodeWhileNothingMayBeChanged) {
  permit_ = fail(ErrorKind::kCancelled, "the stop switch is on");
  ASSERT_TRUE(take({signal()}));
  kube_.clear_requests();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(node_writes(), 0U);
  EXPECT_EQ(remediation().status.rule, "guard.stop");
}

TEST_F(StepsTest, PauseAndGoOnByAnnotation) {
  quarantine();
  annotate("gpuward.dev/pause", "true");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kPaused);
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);

  annotate("gpuward.dev/pause", "false");
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

// The pause must not make gpuward forget the manual change. Otherwise the two rules would take
// turns with a write at every look, and the steps would continue once both are gone.
TEST_F(StepsTest, RememberWhatWasUndoneByHandUnderAPause) {
  quarantine();
  kube_.patch("/api/v1/nodes/gpu-01", Json{{"spec", {{"unschedulable", nullptr}}}});
  ASSERT_TRUE(reconcile());
  annotate("gpuward.dev/pause", "true");
  ASSERT_TRUE(reconcile());
  kube_.clear_requests();

  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kPaused);
  EXPECT_EQ(remediation().status.rule, "guard.manual-change");
  EXPECT_EQ(writes(), 0U);
}

// An operator removed gpuward's cordon. A later cordon belongs to its author.
TEST_F(StepsTest, LeaveACordonThatCameAfterOursWasTakenOff) {
  quarantine();
  kube_.patch("/api/v1/nodes/gpu-01", Json{{"spec", {{"unschedulable", nullptr}}}});
  ASSERT_TRUE(reconcile());
  kube_.patch("/api/v1/nodes/gpu-01", Json{{"spec", {{"unschedulable", true}}}});
  annotate("gpuward.dev/cancel", "true");

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  EXPECT_TRUE(node().unschedulable);
  EXPECT_FALSE(our_taint_on(node()));
}

// The intent is from a look that was cut off, so that no write shows whether it still holds.
TEST_F(StepsTest, PutNoMarkIfAHumanSaysPauseAfterTheIntent) {
  ASSERT_TRUE(take({signal()}));
  kube_.add_fault(
      {.kind = fakes::FaultKind::kDropBefore, .method = "PATCH", .path = "/api/v1/nodes/.*"});
  EXPECT_FALSE(reconcile(1));
  slots_.before = [this] { annotate("gpuward.dev/pause", "true"); };

  (void)reconcile(1);

  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_FALSE(node().unschedulable);
}

// The annotation is written after the reconcile has read the Remediation. The step asks for its
// permit again before each change.
TEST_F(StepsTest, AreToldInTheirMidstThatAHumanHasSaidPauseOrCancel) {
  quarantine();
  for (const char* wish : {"pause", "cancel"}) {
    steps_[Step::kDrain].before = [&] { annotate(std::string("gpuward.dev/") + wish, "true"); };
    ASSERT_TRUE(reconcile());
    ASSERT_FALSE(steps_[Step::kDrain].permitted);
    EXPECT_THAT(steps_[Step::kDrain].permitted.error().message, HasSubstr(wish));
    steps_[Step::kDrain].before = {};
    annotate("gpuward.dev/pause", "false");
  }
}

// An eviction waits for its turn, and asks for its permit then.
TEST_F(StepsTest, AreRefusedWhatTheyHandedOutBeforeTheirRemediationWasClosed) {
  quarantine();
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(steps_[Step::kDrain].permit());
  annotate("gpuward.dev/cancel", "true");
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kCancelled);
  annotate("gpuward.dev/cancel", "false");

  const auto allowed = steps_[Step::kDrain].permit();

  ASSERT_FALSE(allowed);
  EXPECT_THAT(allowed.error().message, HasSubstr("closed"));
}

TEST_F(StepsTest, CancelTakesWhatIsOursOffTheNodeAndStaysCancelled) {
  quarantine();
  ASSERT_TRUE(reconcile());
  annotate("gpuward.dev/cancel", "true");

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_FALSE(node().unschedulable);
  // A repeat from Alertmanager is not a new incident.
  clock_.advance(minutes(10));
  AlertSignal repeat = signal();
  repeat.starts_at = remediation().alerts[0].starts_at;
  const auto counts = take({repeat});
  EXPECT_EQ(counts->ignored, 1U);
  EXPECT_EQ(remediations().size(), 1U);
}

TEST_F(StepsTest, TakeWhatIsOursOffTheNodeBeforeADeletedRemediationGoes) {
  quarantine();
  const std::string name = remediation().name;
  ASSERT_TRUE(api_.delete_custom(remediation_type(), name));
  ASSERT_EQ(remediations().size(), 1U);  // its finalizer keeps it
  catch_up(*replica_);

  ASSERT_TRUE(reconcile());

  EXPECT_TRUE(remediations().empty());
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_FALSE(node().unschedulable);
  EXPECT_THAT(slots_.given_back, ElementsAre(name));
}

TEST_F(StepsTest, LetADeletedRemediationGoAfterACrash) {
  quarantine();
  ASSERT_TRUE(api_.delete_custom(remediation_type(), remediation().name));
  Remediation closed = remediation();
  closed.status.phase = Phase::kSuperseded;
  ASSERT_TRUE(replica_->store.write_status(closed));
  restart();

  ASSERT_TRUE(reconcile());

  EXPECT_TRUE(remediations().empty());
}

TEST_F(StepsTest, StopInTheirMidstWhenTheModeIsLowered) {
  quarantine();
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kDraining);
  policy.mode = Mode::kCordon;
  policy_.set(policy);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].watched, 0);
  expect_waiting("mode", "mode cordon takes no further step");
}

TEST_F(StepsTest, AreAbandonedBeforeACancelledNodeGoesBackIntoService) {
  quarantine();
  ASSERT_TRUE(reconcile());
  annotate("gpuward.dev/cancel", "true");
  steps_[Step::kDrain].abandoning = fail(ErrorKind::kUnavailable, "no answer");

  EXPECT_FALSE(reconcile(1));
  EXPECT_TRUE(node().unschedulable);
  steps_[Step::kDrain].abandoning = fail(ErrorKind::kForbidden, "may not");
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].abandoned, 2);
  EXPECT_EQ(steps_[Step::kDrain].facts.at("boot"), "boot-gpu-01");
  EXPECT_FALSE(node().unschedulable);
  EXPECT_EQ(replica_->recorder.errors.size(), 1U);
}

TEST_F(StepsTest, AreAbandonedBeforeThoseOfAWorseSeverityAreBegun) {
  plan(Severity::kReset, {Step::kTaint, Step::kCordon, Step::kCollectEvidence});
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(reconcile());
  ASSERT_EQ(steps_[Step::kCollectEvidence].begun, 1);
  ASSERT_TRUE(take({signal(Severity::kReboot)}));

  for (int i = 0; i < 2; ++i) ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
  EXPECT_EQ(steps_[Step::kCollectEvidence].abandoned, 1);
}

// A new Node of that name may be on the same machine, and a Job would still run there.
TEST_F(StepsTest, LeaveNoJobBehindIfTheirNodeIsGone) {
  plan(Severity::kReset, {Step::kTaint, Step::kCordon, Step::kCollectEvidence});
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(reconcile());
  ASSERT_EQ(steps_[Step::kCollectEvidence].begun, 1);
  kube_.remove("/api/v1/nodes/gpu-01");

  for (int i = 0; i < 2; ++i) ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kSuperseded);
  EXPECT_EQ(steps_[Step::kCollectEvidence].abandoned, 1);
}

// Its node was already another one when its time was over.
TEST_F(StepsTest, LeaveNoJobBehindThatMightNotBeDeletedInTime) {
  plan(Severity::kReset, {Step::kTaint, Step::kCordon, Step::kCollectEvidence});
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(reconcile());
  steps_[Step::kCollectEvidence].adds = {{kJobLeftFact, "true"}};
  finish(Step::kCollectEvidence);
  kube_.remove("/api/v1/nodes/gpu-01");

  for (int i = 0; i < 2; ++i) ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kSuperseded);
  EXPECT_EQ(steps_[Step::kCollectEvidence].abandoned, 1);
}

TEST_F(StepsTest, AreNotTakenInModeCordon) {
  policy.mode = Mode::kCordon;
  policy_.set(policy);
  quarantine();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
  EXPECT_THAT(slots_.asked, ElementsAre(HasSubstr("/cordon")));
  EXPECT_EQ(remediation().status.phase, Phase::kQuarantined);
}

}  // namespace
}  // namespace gpuward::remediator
