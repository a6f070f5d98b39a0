// The end of a machine: the conditions before it, and the fate of the Remediation when its node
// goes with the machine. The step itself is scripted.
#include "remediator/act/actions/step_progress.h"
#include "remediator/inbox/returned_machines.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

class TerminateTest : public ClusterTest {
 protected:
  TerminateTest() {
    clock_.advance(minutes(15));  // the startup grace is over
    policy.mode = Mode::kFull;
    policy.steps[Severity::kIsolate] = {planned(Step::kTaint), planned(Step::kCordon),
                                        planned(Step::kDrain), planned(Step::kTerminate)};
    policy.steps[Severity::kIsolate].back().before.approval = false;
    policy_.set(policy);
    report(Severity::kIsolate);
  }
  // Sets a report that was measured just now.
  void report(Severity observed) {
    reports_.answer = report_of(Severity::kIsolate);
    reports_.answer->observed_at = {{observed, clock_.wall()}};
  }
  void drain() {
    ASSERT_TRUE(take({signal(Severity::kIsolate)}));
    steps_[Step::kDrain].progress =
        StepProgress{.result = StepResult::kDone, .message = "done", .facts = {}, .look_again = {}};
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(remediation().status.has_done(Step::kDrain));
  }
  void begin_the_end() {
    drain();
    ASSERT_TRUE(reconcile());
    ASSERT_EQ(remediation().status.phase, Phase::kTerminating);
    ASSERT_EQ(steps_[Step::kTerminate].begun, 1);
  }
  void node_goes() {
    kube_.remove("/api/v1/nodes/gpu-01");
    replica_->view.remove_node("gpu-01");
  }
  void machine_is(StepResult result, const std::string& message) {
    steps_[Step::kTerminate].progress =
        StepProgress{.result = result, .message = message, .facts = {}, .look_again = {}};
  }
  Policy policy;
};

TEST_F(TerminateTest, AnIsolatedNodeIsDrainedAndReplaced) {
  begin_the_end();
  EXPECT_THAT(slots_.asked, ::testing::ElementsAre(HasSubstr("/cordon"), HasSubstr("/drain"),
                                                   HasSubstr("/terminate")));
  node_goes();
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kTerminating) << "its machine may still run";

  machine_is(StepResult::kDone, "gone");
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReplaced);
  EXPECT_TRUE(remediation().status.closed_at);
  EXPECT_EQ(steps_[Step::kTerminate].begun, 1);
}

TEST_F(TerminateTest, IsNotTakenForAFaultThatIsOnlyLatched) {
  drain();
  report(Severity::kReboot);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kWaiting);
  EXPECT_EQ(remediation().status.rule, "guard.evidence");
  EXPECT_THAT(remediation().status.message, HasSubstr("latched"));
  EXPECT_EQ(steps_[Step::kTerminate].begun, 0);
  report(Severity::kIsolate);
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kTerminate].begun, 1);
}

// A latched state is enough for a drain, and for a reboot too.
TEST_F(TerminateTest, AloneNeedsAMeasuredState) {
  reports_.answer->observed_at.clear();

  drain();

  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

TEST_F(TerminateTest, GoesOnWhileItsNodeIsBeingDeleted) {
  begin_the_end();
  kube_.patch("/api/v1/nodes/gpu-01",
              {{"metadata", {{"finalizers", Json::array({"karpenter.sh/termination"})}}}});
  kube_.remove("/api/v1/nodes/gpu-01");
  ASSERT_TRUE(node().meta.deleting);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kTerminate].watched, 1);
  EXPECT_EQ(remediation().status.phase, Phase::kTerminating);
}

TEST_F(TerminateTest, GoesOnIfAnotherNodeHasTakenTheName) {
  begin_the_end();
  node_goes();
  kube_.create("/api/v1/nodes", fakes::ready_node("gpu-01"));
  catch_up(*replica_);
  machine_is(StepResult::kDone, "gone");

  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReplaced);
  EXPECT_FALSE(our_taint_on(node())) << "the new node is none of its business";
}

TEST_F(TerminateTest, SaysThatNothingProvesTheEndIfItsTimeIsOver) {
  begin_the_end();
  node_goes();
  machine_is(StepResult::kRunning, "unknown: no answer");

  pass(minutes(47));

  EXPECT_EQ(remediation().status.phase, Phase::kSuperseded);
  EXPECT_THAT(remediation().status.message, HasSubstr("terminate failed: unknown"));
  EXPECT_THAT(remediation().status.message, Not(HasSubstr("not done in time")))
      << "nobody knows whether it was asked for";
}

class AcceptedEnd : public TerminateTest {
 protected:
  // The time of the step is over without a proof, and the Node is gone.
  void be_late_without_node() {
    steps_[Step::kTerminate].adds = {{kInstanceFact, node().provider_id}, {kCallFact, "accepted"}};
    begin_the_end();
    node_goes();
    machine_is(StepResult::kRunning, "unknown: no answer");
    pass(minutes(47));
    ASSERT_EQ(remediation().status.phase, Phase::kHeld);
  }
};

TEST_F(AcceptedEnd, IsToldAndWaitedForAfterItsTimeUntilItIsProven) {
  be_late_without_node();
  EXPECT_THAT(remediation().status.message,
              HasSubstr("nothing proves that the machine has terminated"));
  EXPECT_THAT(remediation().status.message, HasSubstr("not done in time: unknown"));
  EXPECT_EQ(remediation().status.notified_phase, Phase::kHeld);
  const auto before = writes();
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(writes(), before) << "nothing is new";
  EXPECT_EQ(steps_[Step::kTerminate].begun, 1);

  machine_is(StepResult::kDone, "gone");
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReplaced);
}

TEST_F(AcceptedEnd, IsWaitedForNoLongerOnceAHumanCancels) {
  be_late_without_node();
  kube_.patch("/apis/gpuward.dev/v1alpha1/remediations/" + remediation().name,
              {{"metadata", {{"annotations", {{"gpuward.dev/cancel", "true"}}}}}});

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
}

TEST_F(AcceptedEnd, IsGivenUpIfTheMachineRegistersAgain) {
  be_late_without_node();
  kube_.create("/api/v1/nodes", fakes::ready_node("gpu-01"));

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kSuperseded);
}

TEST_F(TerminateTest, IsHeldForAHumanIfTheMachineDoesNotGo) {
  begin_the_end();
  machine_is(StepResult::kRunning, "waiting for the machine to terminate");

  pass(minutes(47));

  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_TRUE(node().unschedulable);
}

// Simulated, seed 55880: gpuward asked an operator to approve a reboot of a node that it reported
// as held.
TEST_F(TerminateTest, ThatFailedHoldsTheNodeWhateverThePolicySaysSince) {
  begin_the_end();
  machine_is(StepResult::kFailed, "1 volume is still attached");
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kHeld);
  policy.steps[Severity::kIsolate].back() = planned(Step::kReboot);
  policy_.set(policy);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_THAT(remediation().status.message, HasSubstr("1 volume is still attached"));
  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  policy.steps[Severity::kIsolate].clear();  // simulated, seed 6997
  policy_.set(policy);
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
}

TEST_F(TerminateTest, PassesItsGuardsAnewIfTheCallHasNotArrived) {
  begin_the_end();
  machine_is(StepResult::kIntended, "not asked for");
  report(Severity::kReboot);

  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kTerminate].begun, 1);
  EXPECT_EQ(remediation().status.rule, "guard.evidence");
}

// A process that was frozen finds that the leader meanwhile has withdrawn its intent.
TEST_F(TerminateTest, IsNotAskedForByWhoeverHasBeenOvertaken) {
  drain();
  machine_is(StepResult::kIntended, "not asked for");
  steps_[Step::kTerminate].before = [&] {
    steps_[Step::kTerminate].before = {};
    auto other = make_replica();
    catch_up(*other);
    ASSERT_TRUE(other->reconciler.reconcile("gpu-01"));
    ASSERT_EQ(remediation().status.find(Step::kTerminate), nullptr);
  };

  ASSERT_FALSE(reconcile(1)) << "what it would write is of yesterday";

  EXPECT_FALSE(steps_[Step::kTerminate].permitted);
  EXPECT_EQ(steps_[Step::kTerminate].permitted.error().message,
            "the intent of the step has changed");
}

TEST_F(TerminateTest, WaitsForWhatTheStepNamesBeforeAnythingIsWritten) {
  steps_[Step::kTerminate].waits_for = "1 volume is still attached: pv-1";
  drain();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kWaiting);
  EXPECT_THAT(remediation().status.message, HasSubstr("pv-1"));
  EXPECT_FALSE(remediation().status.find(Step::kTerminate));
  ASSERT_TRUE(reconcile());  // the next look records the report
  const auto before = writes();
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(writes(), before) << "nothing is new";
  ASSERT_TRUE(look_.look_again);
  steps_[Step::kTerminate].waits_for = std::nullopt;
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kTerminate].begun, 1);
}

TEST_F(TerminateTest, SaysWhichRightIsMissingToSeeWhetherItMustWait) {
  steps_[Step::kTerminate].waits_for = fail(ErrorKind::kForbidden, "may not list volumes");
  drain();

  ASSERT_TRUE(reconcile());

  EXPECT_THAT(remediation().status.message, HasSubstr("may not list volumes"));
  EXPECT_EQ(steps_[Step::kTerminate].begun, 0);
}

TEST_F(TerminateTest, WaitsForAHumanByDefault) {
  policy.steps[Severity::kIsolate].back() = planned(Step::kTerminate);
  policy_.set(policy);
  drain();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.rule, "guard.approval");
  EXPECT_EQ(steps_[Step::kTerminate].begun, 0);
}

TEST_F(TerminateTest, IsFinishedByTheNextProcess) {
  begin_the_end();
  node_goes();
  restart();
  machine_is(StepResult::kDone, "gone");

  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReplaced);
  EXPECT_EQ(steps_[Step::kTerminate].begun, 1);
}

// A kubelet registers its machine again, without a taint, after any deletion of the Node.
class ReturnedMachineTest : public TerminateTest {
 protected:
  void given_up() {
    drain();
    node_goes();
    ASSERT_TRUE(reconcile());
    ASSERT_EQ(remediation().status.phase, Phase::kSuperseded);
  }
  void registers_again(const Json& changes = nullptr) {
    Json json = fakes::ready_node("gpu-01");
    if (changes.is_object()) json.merge_patch(changes);
    kube_.create("/api/v1/nodes", json);
    catch_up(*replica_);
  }
  Status look() {
    ReturnedMachines returned(replica_->view, replica_->intake, &reports_, policy_, clock_);
    return returned.take_in();
  }
};

TEST_F(ReturnedMachineTest, IsTaintedAgainOnSight) {
  given_up();
  registers_again();
  ASSERT_FALSE(our_taint_on(node()));

  ASSERT_TRUE(look());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(our_taint_on(node()), "isolate");
  EXPECT_TRUE(node().unschedulable);
  ASSERT_EQ(remediations().size(), 2U);
  ASSERT_TRUE(look());
  EXPECT_EQ(remediations().size(), 2U) << "once a node";
}

// After that no new event would cause a look.
TEST_F(ReturnedMachineTest, IsLookedForIfItIsBackBeforeItWasGivenUp) {
  drain();
  node_goes();
  registers_again();
  ASSERT_TRUE(replica_->view.may_have_returned());
  ASSERT_TRUE(look());
  ASSERT_FALSE(replica_->view.may_have_returned());
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kSuperseded);

  ASSERT_TRUE(replica_->view.may_have_returned());
  ASSERT_TRUE(look());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(our_taint_on(node()), "isolate");
}

TEST_F(ReturnedMachineTest, IsTaintedIfAMilderOneWasOpenedInTheSameSecond) {
  given_up();
  Remediation milder = remediation();
  milder.name = "a-1";
  milder.severity = Severity::kReboot;
  replica_->view.put_remediation(milder);
  registers_again();

  ASSERT_TRUE(look());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(our_taint_on(node()), "isolate");
}

TEST_F(ReturnedMachineTest, IsTaintedIfTheServersClockHasGoneBackBeforeItWasGivenUp) {
  given_up();
  Remediation earlier = remediation();
  earlier.name = earlier.name.substr(0, earlier.name.rfind('-')) + "-0";
  earlier.created = *earlier.created + minutes(11);
  earlier.status.phase = Phase::kEnded;
  replica_->view.put_remediation(earlier);
  registers_again();

  ASSERT_TRUE(look());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(our_taint_on(node()), "isolate");
}

// Simulated, seed 157438: the first was deleted by force, and a replica that did not know that
// reused its number.
TEST_F(ReturnedMachineTest, IsTaintedIfAHigherNumberWasCancelledBeforeItWasOpened) {
  given_up();
  Remediation cancelled = remediation();
  cancelled.name = cancelled.name.substr(0, cancelled.name.rfind('-')) + "-2";
  cancelled.created = *cancelled.created - minutes(1);
  cancelled.status.phase = Phase::kCancelled;
  replica_->view.put_remediation(cancelled);
  registers_again();

  ASSERT_TRUE(look());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(our_taint_on(node()), "isolate");
}

TEST_F(ReturnedMachineTest, IsTaintedIfTheServersClockIsAhead) {
  given_up();
  registers_again();
  clock_.jump_wall(-minutes(1));

  ASSERT_TRUE(look());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(our_taint_on(node()), "isolate");
}

TEST_F(ReturnedMachineTest, IsNotTheOneThatCameInItsPlace) {
  given_up();
  registers_again({{"spec", {{"providerID", "aws:///eu-west-1a/i-new"}}},
                   {"status", {{"nodeInfo", {{"bootID", "its-own"}}}}}});

  ASSERT_TRUE(look());

  EXPECT_EQ(remediations().size(), 1U);
}

TEST_F(ReturnedMachineTest, IsLeftAloneIfItsEndWasProven) {
  begin_the_end();
  node_goes();
  machine_is(StepResult::kDone, "gone");
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kReplaced);
  registers_again();

  ASSERT_TRUE(look());

  EXPECT_EQ(remediations().size(), 1U);
}

TEST_F(ReturnedMachineTest, IsLeftAloneOnceAHumanHasSaidSo) {
  given_up();
  registers_again();
  ASSERT_TRUE(look());
  ASSERT_TRUE(reconcile());
  for (const Remediation& one : remediations()) {
    if (!one.open()) continue;
    kube_.patch("/apis/gpuward.dev/v1alpha1/remediations/" + one.name,
                {{"metadata", {{"annotations", {{"gpuward.dev/cancel", "true"}}}}}});
  }
  ASSERT_TRUE(reconcile());
  ASSERT_FALSE(our_taint_on(node()));
  clock_.advance(minutes(1));
  node_goes();
  registers_again();

  ASSERT_TRUE(look());

  EXPECT_EQ(remediations().size(), 2U);
}

TEST_F(ReturnedMachineTest, IsNotLookedForBeforeAllIsKnown) {
  given_up();
  registers_again();
  ClusterView half;
  ReturnedMachines returned(half, replica_->intake, &reports_, policy_, clock_);

  ASSERT_TRUE(returned.take_in());

  EXPECT_EQ(remediations().size(), 1U);
}

}  // namespace
}  // namespace gpuward::remediator
