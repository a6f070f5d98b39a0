// Drills: the steps of the policy run only on a node that has the drill label at that moment, and
// leave no trace in decisions about real faults.
#include "remediator/decide/guards/drills.h"

#include "remediator/cluster/view_queries.h"
#include "remediator/decide/budgets/ledger_slots.h"
#include "remediator/decide/budgets/slot_claim.h"
#include "remediator/model/ownership.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class DrillsTest : public ClusterTest {
 protected:
  DrillsTest() {
    clock_.advance(minutes(15));  // the startup grace is over
    policy.mode = Mode::kFull;
    for (const Severity severity : {Severity::kReboot, Severity::kIsolate}) {
      for (const Step step : {Step::kTaint, Step::kCordon, Step::kDrain,
                              severity == Severity::kReboot ? Step::kReboot : Step::kTerminate,
                              Step::kVerify, Step::kReturn})
        policy.steps[severity].push_back(planned(step));
    }
    SinkSettings people;
    people.name = "people";
    people.moments = {Moment::kOpened, Moment::kClosed};
    policy.notifications.sinks.push_back(people);
    policy_.set(policy);
    inject(Severity::kReboot);
  }
  // Sets the report of an exporter on a node without any fault.
  void inject(Severity severity, const std::string& boot = "boot-gpu-01") {
    reports_.answer = report_of(Severity::kNone, boot);
    reports_.answer->drill_severity = severity;
  }
  void label(const Json& value) {
    kube_.patch("/api/v1/nodes/gpu-01",
                Json{{"metadata", {{"labels", {{std::string(kDrillLabel), value}}}}}});
  }
  AlertSignal drill(Severity severity = Severity::kReboot, bool firing = true) {
    AlertSignal alert = signal(severity, firing);
    alert.alertname = "GpuDrill";
    alert.fingerprint = "d1";
    alert.drill = true;
    return alert;
  }
  void begin_drill() {
    ASSERT_TRUE(take({drill()}));
    ASSERT_TRUE(reconcile());
  }
  void finish(Step step) {
    steps_[step].progress =
        StepProgress{.result = StepResult::kDone, .message = "done", .facts = {}, .look_again = {}};
    ASSERT_TRUE(reconcile());
  }
  void expect_untouched() {
    EXPECT_FALSE(our_taint_on(node()));
    EXPECT_FALSE(node().unschedulable);
    EXPECT_FALSE(owner_annotation_on(node()));
    EXPECT_EQ(steps_[Step::kDrain].begun + steps_[Step::kReboot].begun, 0);
  }

  Policy policy;
};

TEST_F(DrillsTest, AreRecordedAndRefusedOnANodeWithoutTheLabel) {
  begin_drill();

  EXPECT_EQ(remediation().status.phase, Phase::kObserved);
  EXPECT_EQ(remediation().status.rule, kDrillRule);
  EXPECT_THAT(
      remediation().status.message,
      HasSubstr("drill refused: the node does not have the label gpuward.dev/drill=allowed"));
  expect_untouched();
  ASSERT_FALSE(replica_->announcer.events.empty());
  EXPECT_THAT(replica_->announcer.events.back().message, HasSubstr("drill refused"));
  EXPECT_FALSE(replica_->announcer.events.back().warning);
}

TEST_F(DrillsTest, NeedTheVeryValueOfTheLabel) {
  for (const char* value : {"true", "Allowed", "", "allowed "}) {
    kube::Node node;
    node.meta.labels[std::string(kDrillLabel)] = value;
    EXPECT_FALSE(allows_drills(node)) << value;
  }
  kube::Node node;
  node.meta.labels[std::string(kDrillLabel)] = "allowed";
  EXPECT_TRUE(allows_drills(node));
}

TEST_F(DrillsTest, GoTheWholeWayOnALabelledNodeAndEndWithTheTimeOfEachStep) {
  label("allowed");
  begin_drill();
  expect_quarantined();
  EXPECT_THAT(remediation().status.message, StartsWith("drill: "));
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(steps_[Step::kDrain].begun, 1);
  EXPECT_TRUE(steps_[Step::kDrain].permitted);
  clock_.advance(seconds(20));
  inject(Severity::kReboot);
  finish(Step::kDrain);
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(steps_[Step::kReboot].begun, 1);
  clock_.advance(seconds(70));
  finish(Step::kReboot);
  inject(Severity::kNone);
  ASSERT_TRUE(take({drill(Severity::kReboot, false)}));
  finish(Step::kVerify);
  clock_.advance(seconds(1));
  inject(Severity::kNone);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_FALSE(node().unschedulable);
  const auto& events = replica_->notifications.events;
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().moment, "closed");
  EXPECT_TRUE(events.back().drill);
  EXPECT_THAT(events.back().message, HasSubstr("drained 20."));
  EXPECT_THAT(events.back().message, HasSubstr("reset or restarted 90."));
  EXPECT_THAT(events.back().message, HasSubstr("back in service 91."));
  EXPECT_THAT(text_of(events.back(), "{{message}}"), StartsWith("(drill) "));
  EXPECT_THAT(replica_->recorder.milestones, IsEmpty()) << "no drill is in the times of real ones";
  EXPECT_THAT(slots_.arrivals, IsEmpty()) << "nor does one open the breaker";
}

TEST_F(DrillsTest, GoNoFurtherOnceTheLabelIsGone) {
  label("allowed");
  begin_drill();
  expect_quarantined();

  label(nullptr);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.rule, kDrillRule);
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
}

// The informers do not know it yet, but gpuward refuses the next call.
TEST_F(DrillsTest, AreRefusedRightBeforeTheCallIfTheLabelIsGone) {
  label("allowed");
  begin_drill();
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(steps_[Step::kDrain].begun, 1);
  ASSERT_TRUE(steps_[Step::kDrain].permit());

  label("no");

  const auto allowed = steps_[Step::kDrain].permit();
  ASSERT_FALSE(allowed);
  EXPECT_THAT(allowed.error().message,
              HasSubstr("does not have the label gpuward.dev/drill=allowed"));
}

TEST_F(DrillsTest, NeverTerminateAMachine) {
  label("allowed");
  inject(Severity::kIsolate);
  reports_.answer->diagnostics_severity = Severity::kIsolate;
  ASSERT_TRUE(take({drill(Severity::kIsolate)}));
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  finish(Step::kDrain);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kTerminate].begun, 0);
  EXPECT_EQ(remediation().status.rule, kDrillRule);
  EXPECT_THAT(remediation().status.message, HasSubstr("a drill does not terminate machines"));
}

TEST_F(DrillsTest, AreHeldIfAStepFailsAndNotEscalated) {
  label("allowed");
  begin_drill();
  ASSERT_TRUE(reconcile());
  finish(Step::kDrain);
  ASSERT_TRUE(reconcile());
  steps_[Step::kReboot].progress = StepProgress{.result = StepResult::kFailed,
                                                .message = "it does not come back",
                                                .facts = {},
                                                .look_again = {}};
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_FALSE(remediation().status.escalated_to);
}

TEST_F(DrillsTest, GiveARealFaultNoReportToRestOn) {
  label("allowed");
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.rule, "guard.evidence");
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
}

// A real fault needs no label.
TEST_F(DrillsTest, BecomeRealWithTheFirstRealAlert) {
  begin_drill();
  expect_untouched();
  reports_.answer = report_of(Severity::kReboot);

  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());

  expect_quarantined();
  EXPECT_FALSE(remediation().is_drill());
  EXPECT_EQ(remediation().status.message.find("drill"), std::string::npos);
}

TEST_F(DrillsTest, HaveTreatedNothingThatARealFaultNeeds) {
  label("allowed");
  begin_drill();
  ASSERT_TRUE(reconcile());
  finish(Step::kDrain);
  EXPECT_TRUE(remediation().status.find(Step::kDrain)->drill);
  steps_[Step::kDrain].progress = StepProgress{};
  ASSERT_EQ(steps_[Step::kDrain].begun, 1);
  ASSERT_TRUE(take({drill(Severity::kReboot, false), signal()}));
  reports_.answer = report_of(Severity::kReboot);
  steps_[Step::kReboot].progress =
      StepProgress{.result = StepResult::kDone, .message = "done", .facts = {}, .look_again = {}};
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 2) << "of the real fault";
}

// The real fault does not continue a step of the drill without its own gates.
TEST_F(DrillsTest, LeaveNoStepThatARealFaultGoesOnWith) {
  label("allowed");
  begin_drill();
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(steps_[Step::kDrain].begun, 1);
  reports_.answer = report_of(Severity::kNone);
  ASSERT_TRUE(take({signal()}));

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].watched, 0);
  EXPECT_EQ(remediation().status.rule, "guard.evidence");
}

// gpuward watches a restart to its end, but needs the label to make a call that it never made.
TEST_F(DrillsTest, AskForNothingWithoutTheLabelThoughTheyHaveBecomeReal) {
  label("allowed");
  begin_drill();
  ASSERT_TRUE(reconcile());
  finish(Step::kDrain);
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(steps_[Step::kReboot].begun, 1);
  label(nullptr);
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());

  ASSERT_GE(steps_[Step::kReboot].watched, 1);
  ASSERT_FALSE(steps_[Step::kReboot].permitted);
  EXPECT_THAT(steps_[Step::kReboot].permitted.error().message,
              HasSubstr("does not allow this drill step"));
}

TEST_F(DrillsTest, SayNothingOfTheNodeToThoseWhoCountUnhealthyNodes) {
  label("allowed");
  begin_drill();
  ASSERT_TRUE(reconcile());
  catch_up(*replica_);

  with_fleet(replica_->view, [](const Fleet& fleet) {
    const FleetNode& node = fleet.nodes.begin()->second;
    EXPECT_EQ(node.severity, Severity::kNone);
    EXPECT_THAT(node.alerts, IsEmpty());
    EXPECT_FALSE(node.waits_for_taint);
    EXPECT_FALSE(node.confirmed);
  });
  EXPECT_EQ(remediation().status.confirmed_severity, Severity::kNone) << "no kernel has said it";
}

TEST_F(DrillsTest, LetARealFaultOfTheSameNodeGoFirst) {
  Remediation of_drill, of_fault;
  of_drill.name = "a";
  of_fault.name = "b";
  of_drill.alerts.resize(1);
  of_drill.alerts[0].drill = true;
  of_drill.status.steps.resize(1);

  EXPECT_TRUE(goes_first(of_fault, of_drill, node()));
  EXPECT_FALSE(goes_first(of_drill, of_fault, node()));
}

TEST_F(DrillsTest, LeaveNoAttemptInTheLedgerAndAreNoSecondAttemptLater) {
  label("allowed");
  begin_drill();
  const Remediation of_drill = remediation();
  const kube::Node current = node();
  SlotClaim claim{.remediation = of_drill,
                  .step = Step::kReboot,
                  .request = *slot_request(of_drill, current, Step::kReboot),
                  .policy = policy,
                  .now = clock_.wall(),
                  .refusal = {}};
  Fleet fleet;

  const Ledger ledger = with_claim({}, fleet, claim);

  EXPECT_THAT(ledger.attempts, IsEmpty());
  EXPECT_FALSE(is_arrival(of_drill));
}

}  // namespace
}  // namespace gpuward::remediator
