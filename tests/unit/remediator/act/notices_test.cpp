// The notifications about a remediation: each moment that a sink wants, at least once after any
// crash, always under the same id, and without delay for the steps.
#include "remediator/cluster/view_queries.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using fakes::FaultKind;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const std::string kStatusPath = "/apis/gpuward.dev/v1alpha1/remediations/.*/status";

class NoticesTest : public ClusterTest {
 protected:
  NoticesTest() {
    clock_.advance(std::chrono::minutes(15));  // the startup grace is over
    policy_with(Mode::kCordon, {planned(Step::kTaint), planned(Step::kCordon)});
    report("GPU_HEALTH_ERROR");
  }
  void report(const std::string& error_class) {
    reports_.answer = report_of(Severity::kReboot);
    reports_.answer->error_class = error_class;
  }
  void policy_with(Mode mode, std::vector<PlannedStep> plan) {
    policy.mode = mode;
    policy.notifications.cluster = "prod";
    policy.notifications.sinks.resize(1);
    policy.notifications.sinks[0].name = "oncall";
    policy.steps[Severity::kReboot] = std::move(plan);
    policy_.set(policy);
  }
  void want(std::set<Moment> moments) {
    policy.notifications.sinks[0].moments = std::move(moments);
    policy_.set(policy);
  }
  void quarantine() {
    ASSERT_TRUE(take({signal()}));
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(reconcile());  // the first notification waits for the report
  }
  // gpuward observes the node, and has notified its sinks.
  void observe() {
    report("XID_WARNING_31");
    ASSERT_TRUE(take({signal(Severity::kMonitor)}));
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(reconcile());
    ASSERT_THAT(told(), ElementsAre("opened"));
    replica_->notifications.events.clear();
  }
  AlertSignal another(Severity severity) {
    AlertSignal worse = signal(severity);
    worse.fingerprint = "cd";
    return worse;
  }
  void get_worse(Severity severity = Severity::kReboot) {
    report("XID_CRITICAL_79");
    ASSERT_TRUE(take({another(severity)}));
  }
  void annotate(const std::string& key, const std::string& value) {
    kube_.patch(remediation_collection() + "/" + remediation().name,
                {{"metadata", {{"annotations", {{key, value}}}}}});
  }
  void look(int times = 3) {
    for (int i = 0; i < times; ++i) ASSERT_TRUE(reconcile());
  }
  // Two alerts fire, of severity isolate and `milder`. The report clears the worse one.
  void get_better(Severity milder) {
    for (const Severity severity : {Severity::kReset, Severity::kIsolate})
      policy.steps[severity] = policy.steps[Severity::kReboot];
    policy_.set(policy);
    AlertSignal isolate = another(Severity::kIsolate);
    isolate.fingerprint = "ef";
    reports_.answer = report_of(Severity::kIsolate);
    ASSERT_TRUE(take({signal(milder), isolate}));
    look();
    ASSERT_THAT(told(), ElementsAre("opened"));
    replica_->notifications.events.clear();
    clock_.advance(std::chrono::seconds(1));
    isolate.firing = false;
    isolate.ends_at = clock_.wall();
    ASSERT_TRUE(take({isolate}));
    clock_.advance(std::chrono::minutes(1));
    reports_.answer = report_of(milder);
    look();
    ASSERT_EQ(remediation().evidence_severity(), milder);
    EXPECT_THAT(told(), IsEmpty());
  }
  // Opens a drill of which gpuward has notified the sinks.
  void drill() {
    AlertSignal drill = signal(Severity::kReset);
    drill.drill = true;
    drill.error_class = "GPU_HEALTH_ERROR";
    reports_.answer = report_of(Severity::kMonitor);
    ASSERT_TRUE(take({drill}));
    look();
    ASSERT_THAT(told(), Contains("opened"));
    ASSERT_TRUE(replica_->notifications.events[0].drill);
    replica_->notifications.events.clear();
  }
  void add_real_fault() {
    AlertSignal real = another(Severity::kMonitor);
    real.error_class = "XID_WARNING_31";
    ASSERT_TRUE(take({real}));
    look();
  }
  void uncordon() { kube_.patch("/api/v1/nodes/gpu-01", {{"spec", {{"unschedulable", nullptr}}}}); }
  // The moment/step of each event that the sinks were offered, each once.
  std::vector<std::string> told() {
    std::vector<std::string> all;
    std::set<std::string> ids;
    for (const NotificationEvent& event : replica_->notifications.events) {
      if (!ids.insert(event.id).second) continue;
      all.push_back(event.moment + (event.step.empty() ? "" : "/" + event.step));
    }
    return all;
  }

  Policy policy;
};

TEST_F(NoticesTest, ARemediationIsToldFromItsBeginToItsEnd) {
  quarantine();
  EXPECT_THAT(told(), ElementsAre("opened"));
  const NotificationEvent opened = replica_->notifications.events.at(0);
  EXPECT_EQ(opened.node_name, "gpu-01");
  EXPECT_EQ(opened.cluster_name, "prod");
  EXPECT_EQ(opened.phase, "Quarantined");
  EXPECT_FALSE(opened.dry_run);

  uncordon();
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(told(), ElementsAre("opened", "paused"));
  kube_.patch(remediation_collection() + "/" + remediation().name,
              {{"metadata", {{"annotations", {{"gpuward.dev/cancel", "true"}}}}}});
  ASSERT_TRUE(reconcile());

  EXPECT_THAT(told(), ElementsAre("opened", "paused", "closed"));
  EXPECT_THAT(remediation().status.notices, IsEmpty());
  EXPECT_THAT(open_for(replica_->view, "gpu-01"), IsEmpty());
}

TEST_F(NoticesTest, ANodeThatIsOnlyWatchedIsReportedToo) {
  ASSERT_TRUE(take({signal(Severity::kMonitor)}));
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_THAT(told(), ElementsAre("opened"));
  EXPECT_EQ(remediation().status.phase, Phase::kObserved);
  EXPECT_FALSE(node().unschedulable);

  clock_.advance(std::chrono::minutes(1));
  ASSERT_TRUE(take({signal(Severity::kMonitor, false)}));
  ASSERT_TRUE(reconcile());
  ASSERT_THAT(told(), ElementsAre("opened", "closed"));
  for (const NotificationEvent& event : replica_->notifications.events)
    EXPECT_TRUE(event.dry_run) << event.moment << ": gpuward did nothing";
}

TEST_F(NoticesTest, TheFirstWordHasTheClassOfTheErrorAsTheExporterTellsIt) {
  report("XID_CRITICAL_79");

  quarantine();

  ASSERT_THAT(told(), ElementsAre("opened"));
  EXPECT_EQ(replica_->notifications.events[0].error_type, "XID_CRITICAL_79");
  uncordon();
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(told(), ElementsAre("opened", "paused")) << "at once from then on";
}

TEST_F(NoticesTest, ModeObserveSaysThatNothingIsDone) {
  policy_with(Mode::kObserve, {planned(Step::kTaint), planned(Step::kCordon)});

  quarantine();

  ASSERT_THAT(told(), ElementsAre("opened"));
  EXPECT_TRUE(replica_->notifications.events[0].dry_run);
  EXPECT_THAT(replica_->notifications.events[0].message, HasSubstr("would run taint, cordon"));
}

TEST_F(NoticesTest, ANodeThatGetsWorseIsOpenedAgainWithItsNewClass) {
  observe();
  get_worse();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reconcile());

  expect_quarantined();
  ASSERT_THAT(told(), ElementsAre("opened"));
  const NotificationEvent worse = replica_->notifications.events[0];
  EXPECT_EQ(worse.error_type, "XID_CRITICAL_79");
  EXPECT_EQ(worse.severity, "reboot");
  EXPECT_EQ(worse.phase, "Quarantined");
  EXPECT_THAT(worse.message, HasSubstr("severity reboot"));
}

TEST_F(NoticesTest, ANodeThatGetsWorseIsReportedByItsNewClassThoughAStepRunsAlready) {
  policy_with(Mode::kFull, {planned(Step::kTaint), planned(Step::kCordon), planned(Step::kDrain)});
  observe();
  get_worse();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
  ASSERT_THAT(told(), ElementsAre("opened"));
  EXPECT_EQ(replica_->notifications.events[0].error_type, "XID_CRITICAL_79");
}

// The sink `cloudwatch` wants `opened` alone, and counts each as one error of its class.
TEST_F(NoticesTest, OpenedAloneCountsTheFirstErrorAndEachWorseOne) {
  want({Moment::kOpened});
  report("XID_WARNING_31");
  ASSERT_TRUE(take({signal(Severity::kMonitor)}));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(reconcile());
  get_worse();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(reconcile());

  std::vector<std::string> counted;
  for (const NotificationEvent& event : replica_->notifications.events)
    counted.push_back(event.error_type);
  EXPECT_THAT(counted, ElementsAre("XID_WARNING_31", "XID_CRITICAL_79"));
}

TEST_F(NoticesTest, ANodeThatGetsWorseIsReportedOnceWhoeverLeads) {
  observe();
  get_worse();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reconcile());
  restart();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reconcile());
  EXPECT_THAT(replica_->notifications.events, IsEmpty());

  get_worse(Severity::kMonitor);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reconcile());
  EXPECT_THAT(replica_->notifications.events, IsEmpty()) << "nothing is worse than before";
}

TEST_F(NoticesTest, ANodeThatGetsBetterIsNotReportedUntilItIsWorseAgain) {
  get_better(Severity::kReboot);

  clock_.advance(std::chrono::minutes(10));
  ASSERT_TRUE(take({another(Severity::kIsolate)}));
  look();

  EXPECT_THAT(told(), ElementsAre("opened"));
}

TEST_F(NoticesTest, ANodeIsReportedByItsPresentSeverityAndNotByTheWorstEver) {
  get_better(Severity::kReset);

  clock_.advance(std::chrono::minutes(10));
  get_worse(Severity::kReboot);
  look();

  ASSERT_THAT(told(), ElementsAre("opened"));
  EXPECT_EQ(replica_->notifications.events[0].severity, "reboot");
}

TEST_F(NoticesTest, AFloorIsComparedWithThePresentSeverity) {
  policy.notifications.sinks[0].floor = Severity::kIsolate;
  get_better(Severity::kReset);

  clock_.advance(std::chrono::minutes(10));
  get_worse(Severity::kReboot);
  look();

  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(NoticesTest, ANodeThatGotWorseBeforeACrashIsReportedByTheNextLeader) {
  observe();
  get_worse();
  restart();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reconcile());

  EXPECT_THAT(told(), ElementsAre("opened"));
}

TEST_F(NoticesTest, ANodeThatGetsWorseIsReportedInModeObserveToo) {
  policy_with(Mode::kObserve, {planned(Step::kTaint), planned(Step::kCordon)});
  observe();
  get_worse();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kObserved);
  ASSERT_THAT(told(), ElementsAre("opened"));
  EXPECT_TRUE(replica_->notifications.events[0].dry_run);
  EXPECT_EQ(replica_->notifications.events[0].severity, "reboot");
}

TEST_F(NoticesTest, ASinkWithAFloorIsToldOnceTheNodeIsAsBadAsThat) {
  policy.notifications.sinks[0].floor = Severity::kReset;
  policy_.set(policy);
  report("XID_WARNING_31");
  ASSERT_TRUE(take({signal(Severity::kMonitor)}));
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  ASSERT_THAT(told(), IsEmpty());

  get_worse();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reconcile());

  EXPECT_THAT(told(), ElementsAre("opened"));
}

TEST_F(NoticesTest, ANodeIsOpenedAgainWhenItIsNoLongerOnlyObserved) {
  policy_with(Mode::kObserve, {planned(Step::kTaint), planned(Step::kCordon)});
  quarantine();
  ASSERT_EQ(remediation().status.phase, Phase::kObserved);
  replica_->notifications.events.clear();

  policy_with(Mode::kCordon, {planned(Step::kTaint), planned(Step::kCordon)});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reconcile());

  expect_quarantined();
  ASSERT_THAT(told(), ElementsAre("opened"));
  EXPECT_FALSE(replica_->notifications.events[0].dry_run);
}

// An older version did not record the severity of the last `opened`.
TEST_F(NoticesTest, AnOlderRecordIsNotReportedAgain) {
  policy_with(Mode::kObserve, {planned(Step::kTaint), planned(Step::kCordon)});
  quarantine();
  replica_->notifications.events.clear();
  Remediation older = remediation();
  older.status.notified_severity.reset();
  ASSERT_TRUE(replica_->store.write_status(older));

  policy.steps[Severity::kReboot] = {planned(Step::kTaint)};
  policy_.set(policy);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reconcile());
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(remediation().status.notified_severity, Severity::kReboot);

  get_worse(Severity::kIsolate);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reconcile());
  EXPECT_THAT(told(), ElementsAre("opened"));
}

// This happens after an upgrade, or when the policy gets its first sink.
TEST_F(NoticesTest, AnOlderRecordTakesItsSeverityOverAtTheFirstLook) {
  observe();
  Remediation older = remediation();
  older.status.notified_severity.reset();
  ASSERT_TRUE(replica_->store.write_status(older));
  restart();
  look(1);
  EXPECT_EQ(remediation().status.notified_severity, Severity::kMonitor);
  EXPECT_THAT(told(), IsEmpty());

  get_worse();
  look();

  EXPECT_THAT(told(), ElementsAre("opened"));
}

TEST_F(NoticesTest, APauseOfANodeThatIsOnlyObservedOpensNothing) {
  observe();
  annotate("gpuward.dev/pause", "true");
  look();
  ASSERT_EQ(remediation().status.phase, Phase::kPaused);
  annotate("gpuward.dev/pause", "false");
  look();

  EXPECT_EQ(remediation().status.phase, Phase::kObserved);
  EXPECT_THAT(told(), ElementsAre("paused"));
}

TEST_F(NoticesTest, ANodeIsOpenedAgainAfterAPauseIfItWasOnlyObservedBefore) {
  policy_with(Mode::kObserve, {planned(Step::kTaint), planned(Step::kCordon)});
  quarantine();
  replica_->notifications.events.clear();
  annotate("gpuward.dev/pause", "true");
  look();
  policy_with(Mode::kCordon, {planned(Step::kTaint), planned(Step::kCordon)});
  restart();
  annotate("gpuward.dev/pause", "false");
  look(4);

  expect_quarantined();
  EXPECT_THAT(told(), ElementsAre("opened"));
}

TEST_F(NoticesTest, ANodeWhoseMarksAreUnexplainedIsHeldAndNotOpenedAgain) {
  observe();
  kube_.patch("/api/v1/nodes/gpu-01",
              {{"metadata", {{"annotations", {{std::string(kAnnotation), "unreadable"}}}}}});
  look();

  ASSERT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_THAT(told(), ElementsAre("held"));
}

TEST_F(NoticesTest, ANodeThatWaitsForItsOtherRemediationIsNotOpenedAgain) {
  observe();
  const std::string first = remediation().name, other = first + "0";
  Json copy = kube_.get(remediation_collection() + "/" + first);
  copy["metadata"] = {{"name", other}, {"finalizers", copy["metadata"]["finalizers"]}};
  kube_.create(remediation_collection(), copy);
  const OwnerAnnotation mark{.name = other, .why = "", .taint = true, .since = ""};
  kube_.patch("/api/v1/nodes/gpu-01",
              {{"metadata", {{"annotations", {{std::string(kAnnotation), to_annotation(mark)}}}}}});
  look();

  const Json kept = kube_.get(remediation_collection() + "/" + first);
  ASSERT_EQ(kept["status"]["rule"], "guard.one-per-node");
  for (const NotificationEvent& event : replica_->notifications.events)
    EXPECT_NE(event.remediation, first) << event.moment;
}

TEST_F(NoticesTest, ARealFaultBesideADrillIsReportedThoughItIsNoWorse) {
  drill();
  add_real_fault();

  ASSERT_THAT(told(), Contains("opened"));
  const NotificationEvent opened = replica_->notifications.events[0];
  EXPECT_FALSE(opened.drill);
  EXPECT_EQ(opened.error_type, "XID_WARNING_31");
}

TEST_F(NoticesTest, ADrillIsReportedAsADrillThoughARealFaultHasComeMeanwhile) {
  replica_->notifications.take = false;
  drill();
  add_real_fault();
  replica_->notifications.events.clear();
  restart();
  look(1);

  std::vector<std::pair<bool, std::string>> opened;
  for (const NotificationEvent& event : replica_->notifications.events)
    if (event.moment == "opened") opened.emplace_back(event.drill, event.error_type);
  EXPECT_THAT(opened,
              ElementsAre(std::pair(true, "GPU_HEALTH_ERROR"), std::pair(false, "XID_WARNING_31")));
}

TEST_F(NoticesTest, ADeadSinkMakesNoLookAtAStepAskPrometheus) {
  policy_with(Mode::kFull, {planned(Step::kTaint), planned(Step::kCordon), planned(Step::kDrain)});
  replica_->notifications.take = false;
  quarantine();
  look();
  ASSERT_EQ(steps_[Step::kDrain].begun, 1);
  ASSERT_THAT(remediation().status.notices, Not(IsEmpty()));
  clock_.advance(std::chrono::minutes(1));
  look(1);

  const int asked = reports_.asked;
  look(5);

  EXPECT_EQ(reports_.asked, asked);
}

TEST_F(NoticesTest, ASinkIsToldOfWhatItWantsOnly) {
  want({Moment::kStep});
  quarantine();
  EXPECT_THAT(told(), ElementsAre("step/taint", "step/cordon"));

  policy.notifications.sinks[0].floor = Severity::kIsolate;
  policy_.set(policy);
  uncordon();
  ASSERT_TRUE(reconcile());

  EXPECT_THAT(told(), SizeIs(2));
  EXPECT_EQ(remediation().status.phase, Phase::kPaused);
}

TEST_F(NoticesTest, StayWrittenDownUntilTheyAreTaken) {
  replica_->notifications.take = false;
  quarantine();
  ASSERT_THAT(remediation().status.notices, SizeIs(1));
  const std::string id = remediation().status.notices[0].id;
  EXPECT_THAT(open_for(replica_->view, "gpu-01"), SizeIs(1));

  restart();  // the memory of the sinks is lost
  ASSERT_TRUE(reconcile());

  ASSERT_THAT(replica_->notifications.events, SizeIs(1));
  EXPECT_EQ(replica_->notifications.events[0].id, id);
  EXPECT_THAT(remediation().status.notices, IsEmpty());
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(replica_->notifications.events, SizeIs(1));
}

TEST_F(NoticesTest, HoldUpNothingWhileTheyWait) {
  replica_->notifications.take = false;

  quarantine();

  EXPECT_EQ(remediation().status.phase, Phase::kQuarantined);
  EXPECT_TRUE(node().unschedulable);
}

TEST_F(NoticesTest, AreToldUnderTheSameIdIfTheAnswerToTheWriteWasLost) {
  quarantine();
  uncordon();
  kube_.add_fault({.kind = FaultKind::kDropAfter, .method = "PUT", .path = kStatusPath});
  ASSERT_FALSE(reconcile(1));
  ASSERT_THAT(remediation().status.notices, SizeIs(1));
  const std::string id = remediation().status.notices[0].id;
  restart();

  ASSERT_TRUE(reconcile());

  EXPECT_THAT(told(), ElementsAre("paused"));
  EXPECT_EQ(replica_->notifications.events[0].id, id);
}

TEST_F(NoticesTest, TheEndIsToldByTheNextProcess) {
  quarantine();
  replica_->notifications.take = false;
  kube_.remove("/api/v1/nodes/gpu-01");
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kSuperseded);
  restart();
  ASSERT_THAT(open_for(replica_->view, "gpu-01"), SizeIs(1));

  ASSERT_TRUE(reconcile());

  EXPECT_THAT(told(), ElementsAre("closed"));
  EXPECT_THAT(open_for(replica_->view, "gpu-01"), IsEmpty());
}

TEST_F(NoticesTest, AHumanIsAskedForEachApprovalOnce) {
  PlannedStep drain = planned(Step::kDrain);
  drain.before.approval = true;
  policy_with(Mode::kFull, {planned(Step::kTaint), planned(Step::kCordon), drain});
  quarantine();

  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reconcile());

  EXPECT_THAT(told(), ElementsAre("opened", "approval/drain"));
  EXPECT_THAT(replica_->notifications.events.back().message,
              HasSubstr("gpuwardctl approve gpu-01 "));
}

TEST_F(NoticesTest, AStepThatFailsIsToldWithWhatFollows) {
  policy_with(Mode::kFull, {planned(Step::kTaint), planned(Step::kCordon), planned(Step::kDrain)});
  want({Moment::kStep, Moment::kHeld, Moment::kEscalated});
  quarantine();
  steps_[Step::kDrain].progress = StepProgress{
      .result = StepResult::kFailed, .message = "a pod stays", .facts = {}, .look_again = {}};
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reconcile());

  EXPECT_THAT(told(), ElementsAre("step/taint", "step/cordon", "step/drain", "held"));
  EXPECT_THAT(replica_->notifications.events.back().message, HasSubstr("a pod stays"));
}

TEST_F(NoticesTest, WithoutSinksNothingIsWrittenDown) {
  policy.notifications.sinks.clear();
  policy_.set(policy);

  quarantine();

  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(remediation().status.notices, IsEmpty());
}

class NotifyStepTest : public NoticesTest {
 protected:
  NotifyStepTest() {
    PlannedStep notify = planned(Step::kNotify);
    notify.sinks = {"oncall"};
    policy_with(Mode::kFull,
                {planned(Step::kTaint), planned(Step::kCordon), notify, planned(Step::kDrain)});
    want({});
    steps_[Step::kNotify].progress = StepProgress{
        .result = StepResult::kDone, .message = "handed over", .facts = {}, .look_again = {}};
    steps_[Step::kNotify].adds = {{"sinks", "oncall,tickets"}};
  }
};

TEST_F(NotifyStepTest, TellsTheSinksOfThePlanAndGoesOnAtOnce) {
  replica_->notifications.take = false;
  quarantine();
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_TRUE(remediation().status.has_done(Step::kNotify));
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
  ASSERT_THAT(remediation().status.notices, SizeIs(1));
  EXPECT_EQ(remediation().status.notices[0].moment, Moment::kNotify);
  EXPECT_THAT(remediation().status.notices[0].sinks, ElementsAre("oncall", "tickets"));
  EXPECT_THAT(told(), ElementsAre("notify/notify"));
}

TEST_F(NotifyStepTest, IsTakenOnce) {
  quarantine();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kNotify].begun, 1);
  EXPECT_THAT(told(), ElementsAre("notify/notify"));
}

// The step changes nothing here: a node whose alerts end before any disruptive step returns after a
// good report.
TEST_F(NotifyStepTest, IsNothingThatHasToBeUndone) {
  policy_with(Mode::kFull, {planned(Step::kTaint), planned(Step::kCordon), planned(Step::kNotify)});
  policy.return_to_service.enabled = true;
  policy_.set(policy);
  quarantine();
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(remediation().status.has_done(Step::kNotify));
  ASSERT_TRUE(take({signal(Severity::kReboot, false)}));
  clock_.advance(std::chrono::seconds(10));
  reports_.answer = report_of(Severity::kNone);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
}

}  // namespace
}  // namespace gpuward::remediator
