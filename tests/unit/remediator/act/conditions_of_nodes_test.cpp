// Conditions of nodes as findings, from the informer's view to the drain.
#include "remediator/inbox/sources/condition_source.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class NodeConditionsTest : public ClusterTest {
 protected:
  NodeConditionsTest() {
    clock_.advance(minutes(15));  // the startup grace is over
    rule_.type = "GPUProblem";
    rule_.severity = Severity::kReset;
    rule_.held_for = minutes(2);
    force();
  }
  void force() {
    Policy policy;
    policy.mode = Mode::kFull;
    policy.steps[Severity::kReset] = {planned(Step::kTaint), planned(Step::kCordon),
                                      planned(Step::kDrain), planned(Step::kGpuReset)};
    policy.conditions = {rule_};
    policy_.set(policy);
  }
  // Sets the condition that the detector reports now.
  void say(const std::string& status, Clock::Wall heartbeat, const std::string& reason = "",
           std::optional<Clock::Wall> transition = {}) {
    const Json condition = {{"type", "GPUProblem"},
                            {"status", status},
                            {"reason", reason},
                            {"lastTransitionTime", to_rfc3339(transition.value_or(clock_.wall()))},
                            {"lastHeartbeatTime", to_rfc3339(heartbeat)}};
    kube_.patch_status("/api/v1/nodes/gpu-01",
                       {{"status", {{"conditions", Json::array({condition})}}}});
    see();
  }
  void say(const std::string& status) { say(status, clock_.wall()); }
  void see() { catch_up(*replica_); }
  // Looks as a leader that has just begun.
  std::vector<AlertSignal> look() {
    ConditionSource source(policy_, replica_->view, replica_->view, clock_);
    return look(source);
  }
  // Looks as a leader that keeps looking while its informers are up to date.
  std::vector<AlertSignal> look(ConditionSource& source) {
    for (const Informer informer : {Informer::kNodes, Informer::kRemediations})
      replica_->view.informers().note_heard(informer, clock_.steady());
    const auto found = source.look();
    return found ? found->signals : std::vector<AlertSignal>();
  }
  void take_what_is_seen() {
    const auto signals = look();
    ASSERT_THAT(signals, SizeIs(1));
    ASSERT_TRUE(take(signals));
    ASSERT_TRUE(reconcile());
  }
  ConditionRule rule_;
};

TEST_F(NodeConditionsTest, CountOnceTheyWereHeldForTheirTime) {
  say("True");
  EXPECT_THAT(look(), IsEmpty());

  clock_.advance(minutes(2));
  take_what_is_seen();

  expect_quarantined("reset");
  EXPECT_TRUE(remediation().alerts[0].foreign);
  EXPECT_EQ(remediation().alerts[0].alertname, "GPUProblem=True");
  EXPECT_EQ(remediation().alerts[0].error_class, "GPU_HEALTH_ERROR");
}

// Reported by others: two tests that fail in turn, each with its own reason, write a new
// lastTransitionTime with each reason.
TEST_F(NodeConditionsTest, WereHeldSinceTheStatusBeganWhateverTheirWriterResets) {
  ConditionSource source(policy_, replica_->view, replica_->view, clock_);
  for (int i = 0; i < 12; ++i) {
    EXPECT_THAT(look(source), IsEmpty()) << i;
    say("True");
    EXPECT_THAT(look(source), IsEmpty()) << i;
    clock_.advance(seconds(10));
  }

  const auto signals = look(source);

  ASSERT_THAT(signals, SizeIs(1));
  EXPECT_EQ(signals[0].starts_at, clock_.wall() - minutes(2));
}

TEST_F(NodeConditionsTest, EndAsTheyBeganWhateverTheirWriterResets) {
  ConditionSource source(policy_, replica_->view, replica_->view, clock_);
  say("True");
  clock_.advance(minutes(2));
  ASSERT_TRUE(take(look(source)));
  for (int i = 0; i < 30; ++i) {
    say("False");
    EXPECT_THAT(look(source), IsEmpty()) << i;
    clock_.advance(seconds(10));
  }

  ASSERT_TRUE(take(look(source)));

  EXPECT_FALSE(remediation().any_firing());
}

TEST_F(NodeConditionsTest, AreHeldFromTheirNewBeginningAfterTheySaidOtherwise) {
  ConditionSource source(policy_, replica_->view, replica_->view, clock_);
  for (const char* status : {"True", "False", "True"}) {
    say(status);
    EXPECT_THAT(look(source), IsEmpty());
    clock_.advance(seconds(60));
  }
  EXPECT_THAT(look(source), IsEmpty());
  clock_.advance(seconds(60));
  EXPECT_THAT(look(source), SizeIs(1));
}

// Between two views the status may have changed twice.
TEST_F(NodeConditionsTest, AreRememberedOnlyWhileTheInformersDeliver) {
  ConditionSource source(policy_, replica_->view, replica_->view, clock_);
  say("True");
  EXPECT_THAT(look(source), IsEmpty());
  for (int i = 0; i < 10; ++i) {  // the informers heard nothing for longer than kOldestView
    clock_.advance(seconds(10));
    static_cast<void>(source.look());
  }
  clock_.advance(seconds(20));
  say("True");
  EXPECT_THAT(look(source), IsEmpty());
}

// Another replica has led meanwhile. The informers of this one have not stopped.
TEST_F(NodeConditionsTest, AreRememberedOnlyFromLookToLook) {
  ConditionSource source(policy_, replica_->view, replica_->view, clock_);
  say("False");
  EXPECT_THAT(look(source), IsEmpty());
  clock_.advance(minutes(1));
  say("True");
  clock_.advance(minutes(2));
  take_what_is_seen();  // by the other replica
  say("False");
  clock_.advance(minutes(5));

  ASSERT_TRUE(take(look(source)));

  EXPECT_FALSE(remediation().any_firing()) << "the status of long ago is not that of today";
}

TEST_F(NodeConditionsTest, HoldAReasonForItsTime) {
  rule_.reasons = {"NvidiaXID79"};
  force();
  ConditionSource source(policy_, replica_->view, replica_->view, clock_);
  const auto long_ago = clock_.wall();
  say("True", clock_.wall(), "DCGMError");
  clock_.advance(minutes(60));
  EXPECT_THAT(look(source), IsEmpty());
  say("True", clock_.wall(), "NvidiaXID79", long_ago);
  for (int i = 0; i < 12; ++i) {
    EXPECT_THAT(look(source), IsEmpty()) << i;
    clock_.advance(seconds(10));
  }
  ASSERT_THAT(look(source), SizeIs(1));
  EXPECT_EQ(look(source)[0].starts_at, long_ago)
      << "the status is one finding, whatever its reason";
}

// A later start would reopen the Remediation that an operator has cancelled.
TEST_F(NodeConditionsTest, StartWithTheirStatusForEachLeader) {
  rule_.reasons = {"NvidiaXID79"};
  rule_.held_for = seconds(0);
  force();
  const auto began = clock_.wall();
  say("True", clock_.wall(), "NvidiaXID79");
  for (int leader = 0; leader < 2; ++leader) {
    const auto signals = look();
    ASSERT_THAT(signals, SizeIs(1));
    EXPECT_EQ(signals[0].starts_at, began);
    clock_.advance(minutes(10));
  }
}

TEST_F(NodeConditionsTest, AreNotThoseOfAnEarlierNodeOfTheName) {
  ConditionSource source(policy_, replica_->view, replica_->view, clock_);
  say("True");
  EXPECT_THAT(look(source), IsEmpty());
  kube_.remove("/api/v1/nodes/gpu-01");
  add_node("gpu-01");
  clock_.advance(minutes(2));
  say("True");
  EXPECT_THAT(look(source), IsEmpty());
}

TEST_F(NodeConditionsTest, SayNothingIfTheyAreUnknown) {
  say("Unknown");
  clock_.advance(minutes(60));
  EXPECT_THAT(look(), IsEmpty());
  say("True");
  clock_.advance(minutes(2));
  take_what_is_seen();

  say("Unknown");
  clock_.advance(minutes(60));

  EXPECT_THAT(look(), IsEmpty());
  EXPECT_TRUE(remediation().any_firing());
}

TEST_F(NodeConditionsTest, HaveEndedAfterTheySaidOtherwiseForAWhile) {
  say("True");
  clock_.advance(minutes(2));
  take_what_is_seen();
  say("False");
  EXPECT_THAT(look(), IsEmpty());

  clock_.advance(minutes(5));
  ASSERT_TRUE(take(look()));

  EXPECT_FALSE(remediation().any_firing());
  expect_quarantined("reset");  // the end says nothing about the node
}

TEST_F(NodeConditionsTest, HaveEndedOnceTheirRuleIsNotInThePolicyAnyMore) {
  say("True");
  clock_.advance(minutes(2));
  take_what_is_seen();
  Policy policy = *policy_.get();
  policy.conditions.clear();
  policy_.set(policy);

  ASSERT_TRUE(take(look()));

  EXPECT_FALSE(remediation().any_firing());
}

TEST_F(NodeConditionsTest, HaveEndedOnceTheirRuleIsNotForTheNodeAnyMore) {
  say("True");
  clock_.advance(minutes(2));
  take_what_is_seen();
  rule_.labels = {"pool=other"};
  force();

  ASSERT_TRUE(take(look()));

  EXPECT_FALSE(remediation().any_firing());
}

// Another replica has seen a newer state of the node.
TEST_F(NodeConditionsTest, EndNothingByAnOldView) {
  say("False");
  clock_.advance(minutes(10));
  AlertSignal signal{.node = "gpu-01",
                     .severity = Severity::kReset,
                     .alertname = "GPUProblem=True",
                     .fingerprint = fingerprint_of(rule_),
                     .firing = true,
                     .starts_at = clock_.wall() - minutes(2),
                     .ends_at = {},
                     .foreign = true};
  ASSERT_TRUE(take({signal}));

  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(NodeConditionsTest, EndAtTheCordonWithoutMoreEvidence) {
  rule_.held_for = ConditionRule().held_for;
  force();
  say("True");
  take_what_is_seen();
  expect_quarantined("reset");

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.rule, "guard.evidence");
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
}

TEST_F(NodeConditionsTest, DrainIfThePolicySaysSoAndGoNoFurther) {
  rule_.drains = true;
  force();
  say("True");
  clock_.advance(minutes(2));
  take_what_is_seen();

  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
  StepProgress done;
  done.result = StepResult::kDone;
  steps_[Step::kDrain].progress = done;
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.rule, "guard.evidence");
  EXPECT_EQ(steps_[Step::kGpuReset].begun, 0);
}

TEST_F(NodeConditionsTest, DrainNothingOnTheWordOfADetectorThatHasFallenSilent) {
  rule_.drains = true;
  force();
  say("True", clock_.wall() - minutes(11));
  clock_.advance(minutes(2));
  take_what_is_seen();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
}

// The remediator's clock was set back, so that the age of the detector's last heartbeat is unknown.
TEST_F(NodeConditionsTest, DrainNothingOnAHeartbeatFromTheFuture) {
  rule_.drains = true;
  force();
  say("True");
  clock_.advance(minutes(2));
  take_what_is_seen();
  say("True", clock_.wall() + minutes(30));

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
}

TEST_F(NodeConditionsTest, DrainNothingOnceTheySayOtherwise) {
  rule_.drains = true;
  force();
  say("True");
  clock_.advance(minutes(2));
  take_what_is_seen();
  say("False");

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
}

}  // namespace
}  // namespace gpuward::remediator
