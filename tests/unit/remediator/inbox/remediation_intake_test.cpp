#include "remediator/inbox/remediation_intake.h"

#include <thread>

#include "remediator/cluster/view_queries.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Each;
using ::testing::Field;
using ::testing::SizeIs;
using ::testing::StartsWith;

class IntakeTest : public ClusterTest {};

TEST_F(IntakeTest, OpensARemediationForTheNodeThatIsMeant) {
  const auto counts = take({signal()});

  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->accepted, 1U);
  const Remediation opened = remediation();
  EXPECT_EQ(opened.node, "gpu-01");
  EXPECT_EQ(opened.node_uid, node().meta.uid);
  EXPECT_EQ(opened.boot_id, "boot-gpu-01");
  EXPECT_EQ(opened.instance_id, "aws:///eu-west-1a/i-gpu-01");
  EXPECT_EQ(opened.severity, Severity::kReboot);
  EXPECT_THAT(opened.name, StartsWith("gpu-01-"));
  EXPECT_EQ(replica_->queue.size(), 1U);
}

TEST_F(IntakeTest, NeedsOneRequestForANewAlertAndNoneForARepeat) {
  const AlertSignal fires = signal();
  ASSERT_TRUE(take({fires}));
  EXPECT_THAT(kube_.requests(), SizeIs(1));
  kube_.clear_requests();

  clock_.advance(minutes(5));
  const auto repeat = take({fires});

  EXPECT_EQ(repeat->duplicate, 1U);
  EXPECT_THAT(kube_.requests(), SizeIs(0));
}

// Simulated, seed 8609: the alert of the new node was recorded for the old one, and fired there
// forever.
TEST_F(IntakeTest, TellsAnEndAlsoToTheRemediationOfTheNodeThatHadTheNameBefore) {
  ASSERT_TRUE(take({signal()}));  // by a view that does not know of the new node yet
  kube_.remove("/api/v1/nodes/gpu-01");
  add_node("gpu-01");
  ASSERT_TRUE(remediation().alerts.front().firing());

  ASSERT_TRUE(take({signal(Severity::kReboot, false)}));

  EXPECT_FALSE(remediation().alerts.front().firing());
}

TEST_F(IntakeTest, WritesNothingForTheSameAlertFromAnotherReplica) {
  ASSERT_TRUE(take({signal()}));
  const auto replica = make_replica();
  Replica& other = *replica;
  catch_up(other);
  kube_.clear_requests();
  const std::vector<AlertSignal> same = {signal()};

  const auto counts = other.intake.take(same, clock_.steady() + seconds(1));

  EXPECT_EQ(counts->duplicate, 1U);
  EXPECT_EQ(writes(), 0U);
}

TEST_F(IntakeTest, MeetsAnotherReplicaInOneRemediationIfBothOpenAtOnce) {
  const auto replica = make_replica();
  Replica& other = *replica;
  catch_up(other);  // before anything was opened: its view is old below
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  std::vector<AlertSignal> worse = {signal(Severity::kIsolate)};
  worse[0].fingerprint = "cd";

  const auto counts = other.intake.take(worse, clock_.steady() + seconds(1));

  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_THAT(remediation().alerts, SizeIs(2));
  EXPECT_EQ(remediation().severity, Severity::kIsolate);
}

TEST_F(IntakeTest, FiftyConcurrentCopiesMakeOneRemediationAndOneWrite) {
  std::vector<Result<IntakeCounts>> results(50);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) {
      threads.emplace_back([this, &result] { result = take({signal()}); });
    }
  }

  std::size_t accepted = 0;
  for (const auto& result : results) {
    ASSERT_TRUE(result) << result.error().message;
    accepted += result->accepted;
  }
  EXPECT_EQ(accepted, 1U);
  EXPECT_THAT(remediations(), SizeIs(1));
  EXPECT_EQ(writes(), 1U);
}

TEST_F(IntakeTest, NeverSendsARequestForANodeThatDoesNotExist) {
  AlertSignal stranger = signal();
  stranger.node = "gpu-99";

  const auto counts = take({stranger});

  EXPECT_EQ(counts->ignored, 1U);
  EXPECT_THAT(kube_.requests(), SizeIs(0));
}

TEST_F(IntakeTest, IgnoresAnAlertThatIsOlderThanTheNode) {
  AlertSignal old = signal();
  old.starts_at = clock_.wall() - minutes(10);

  EXPECT_EQ(take({old})->ignored, 1U);
  EXPECT_THAT(remediations(), SizeIs(0));
}

class RecordingIntakeObserver final : public IntakeObserver {
 public:
  void on_ignored(const AlertSignal& signal, Ignored reason) override {
    const std::lock_guard lock(mutex_);
    heard.emplace_back(signal.node + "/" + signal.fingerprint, to_string(reason));
  }
  std::vector<std::pair<std::string, std::string_view>> heard;

 private:
  std::mutex mutex_;
};

TEST_F(IntakeTest, SaysWhyItIgnoresAnAlert) {
  RecordingIntakeObserver observer;
  RemediationIntake intake(replica_->view, replica_->store, replica_->queue, clock_, &observer);
  AlertSignal old = signal();
  old.starts_at = clock_.wall() - minutes(10);
  AlertSignal stranger = signal();
  stranger.node = "gpu-99";
  const std::vector<AlertSignal> signals = {old, signal(Severity::kReboot, false), stranger};

  ASSERT_TRUE(intake.take(signals, clock_.steady() + seconds(1)));

  EXPECT_THAT(observer.heard,
              ::testing::UnorderedElementsAre(std::pair("gpu-01/ab", "older_than_node"),
                                              std::pair("gpu-01/ab", "nothing_to_end"),
                                              std::pair("gpu-99/ab", "no_such_node")));
}

TEST_F(IntakeTest, RecordsTheEndOfAnAlert) {
  ASSERT_TRUE(take({signal()}));
  clock_.advance(minutes(1));

  EXPECT_EQ(take({signal(Severity::kReboot, false)})->accepted, 1U);

  EXPECT_FALSE(remediation().any_firing());
}

TEST_F(IntakeTest, OpensNothingForAnAlertThatHasEnded) {
  EXPECT_EQ(take({signal(Severity::kReboot, false)})->ignored, 1U);
  EXPECT_THAT(remediations(), SizeIs(0));
}

// Out of order: a retry of the firing comes after the end.
TEST_F(IntakeTest, OpensNothingForAFiringThatComesAfterItsOwnEnd) {
  const AlertSignal fires = signal();
  AlertSignal ends = fires;
  ends.firing = false;
  ASSERT_EQ(take({ends})->ignored, 1U);
  clock_.advance(minutes(1));

  EXPECT_EQ(take({fires})->ignored, 1U);
  EXPECT_THAT(remediations(), SizeIs(0));
  EXPECT_EQ(take({signal()})->accepted, 1U) << "a new start";
}

// A sender can guess when a rule will be evaluated.
TEST_F(IntakeTest, TakesAFiringWhoseEndCameBeforeItsStart) {
  AlertSignal fires = signal();
  fires.starts_at = clock_.wall() + seconds(30);
  AlertSignal ends = fires;
  ends.firing = false;
  ASSERT_EQ(take({ends})->ignored, 1U);
  clock_.advance(minutes(1));

  EXPECT_EQ(take({fires})->accepted, 1U);
}

TEST_F(IntakeTest, TakesAFiringThatIsRepeatedLongAfterItsOwnEnd) {
  const AlertSignal fires = signal();
  AlertSignal ends = fires;
  ends.firing = false;
  ASSERT_TRUE(take({ends}));
  clock_.advance(kLateRepeats);

  EXPECT_EQ(take({fires})->accepted, 1U);
}

// A record that is cut to milliseconds makes the repeat look newer.
TEST_F(IntakeTest, KeepsACancelledNodeOutOfItWhateverTheDigitsOfTheStart) {
  set_policy(Mode::kCordon);
  AlertSignal fires = signal();
  fires.starts_at += std::chrono::nanoseconds(987'654'321);
  clock_.advance(seconds(2));
  ASSERT_TRUE(take({fires}));
  ASSERT_TRUE(reconcile());
  kube_.patch("/apis/gpuward.dev/v1alpha1/remediations/" + remediation().name,
              {{"metadata", {{"annotations", {{"gpuward.dev/cancel", "true"}}}}}});
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kCancelled);
  EXPECT_EQ(remediation().alerts[0].starts_at, fires.starts_at);
  clock_.advance(minutes(20));

  EXPECT_EQ(take({fires})->ignored, 1U);

  EXPECT_THAT(remediations(), SizeIs(1));
  EXPECT_FALSE(node().unschedulable);
}

TEST_F(IntakeTest, OpensTheNextRemediationAfterOneThatIsClosed) {
  set_policy(Mode::kObserve);
  const AlertSignal first = signal();
  ASSERT_TRUE(take({first}));
  clock_.advance(minutes(1));
  ASSERT_TRUE(take({signal(Severity::kReboot, false)}));
  ASSERT_TRUE(reconcile());
  ASSERT_FALSE(remediation().open());

  EXPECT_EQ(take({first})->ignored, 1U) << "a late repeat";
  clock_.advance(minutes(1));
  EXPECT_EQ(take({signal()})->accepted, 1U);

  ASSERT_THAT(remediations(), SizeIs(2));
  EXPECT_NE(remediations()[0].name, remediations()[1].name);
}

TEST_F(IntakeTest, GivesNoNameAgainThatADeletedOneHasHad) {
  ASSERT_TRUE(take({signal()}));
  const Remediation first = remediation();
  ASSERT_TRUE(replica_->store.remove(first));
  kube_.patch("/apis/gpuward.dev/v1alpha1/remediations/" + first.name,
              {{"metadata", {{"finalizers", nullptr}}}});
  replica_->view.remove_remediation(first.name);
  ASSERT_EQ(last_number_of(replica_->view, first.node_uid), 1);

  ASSERT_TRUE(take({signal()}));

  EXPECT_TRUE(remediations_of(replica_->view, first.node_uid).front().name.ends_with("-2"));
}

TEST_F(IntakeTest, OpensOneAgainForAnAlertThatGoesOnAfterItsEnd) {
  const AlertSignal first = signal();
  ASSERT_TRUE(take({first}));
  ASSERT_TRUE(take({signal(Severity::kReboot, false)}));
  ASSERT_TRUE(reconcile());
  ASSERT_FALSE(remediation().open());

  clock_.advance(minutes(15));

  EXPECT_EQ(take({first})->accepted, 1U);
  EXPECT_THAT(remediations(), SizeIs(2));
}

TEST_F(IntakeTest, GoesOnIfItsViewWasOld) {
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  const auto name = remediation().name;
  kube_.patch("/apis/gpuward.dev/v1alpha1/remediations/" + name,
              {{"metadata", {{"annotations", {{"somebody", "else"}}}}}});

  EXPECT_EQ(take({signal(Severity::kIsolate)})->accepted, 1U);

  EXPECT_EQ(remediation().severity, Severity::kIsolate);
}

TEST_F(IntakeTest, FailsIfTheApiServerDoes) {
  for (const fakes::FaultKind kind :
       {fakes::FaultKind::kDropBefore, fakes::FaultKind::kInternalError,
        fakes::FaultKind::kUnavailable, fakes::FaultKind::kOverloaded,
        fakes::FaultKind::kForbidden}) {
    kube_.add_fault({.kind = kind, .method = "POST", .times = -1});
    EXPECT_FALSE(take({signal()})) << fakes::name_of(kind);
    kube_.clear_faults();
    clock_.advance(minutes(1));  // gpuward spares an overloaded server for a while
  }
  EXPECT_TRUE(take({signal()}));
}

TEST_F(IntakeTest, FindsItsOwnWriteAfterALostAnswer) {
  kube_.add_fault({.kind = fakes::FaultKind::kDropAfter, .method = "POST"});

  (void)take({signal()});
  const auto again = take({signal()});

  ASSERT_TRUE(again);
  EXPECT_THAT(remediations(), SizeIs(1));
}

TEST_F(IntakeTest, WaitsForACompleteView) {
  ClusterView empty;
  RemediationIntake intake(empty, replica_->store, replica_->queue, clock_);
  const std::vector<AlertSignal> signals = {signal()};

  const auto counts = intake.take(signals, clock_.steady() + seconds(1));

  ASSERT_FALSE(counts);
  EXPECT_EQ(counts.error().kind, ErrorKind::kUnavailable);
}

TEST_F(IntakeTest, StopsAtTheDeadline) {
  const std::vector<AlertSignal> signals = {signal()};

  EXPECT_FALSE(replica_->intake.take(signals, clock_.steady()));
  EXPECT_EQ(writes(), 0U);
}

TEST_F(IntakeTest, TakesManyNodesOfOneNotification) {
  std::vector<AlertSignal> signals;
  for (int i = 10; i < 40; ++i) {
    add_node("gpu-" + std::to_string(i));
    signals.push_back(signal());
    signals.back().node = "gpu-" + std::to_string(i);
  }

  EXPECT_EQ(take(signals)->accepted, 30U);
  EXPECT_THAT(remediations(), SizeIs(30));
}

}  // namespace
}  // namespace gpuward::remediator
