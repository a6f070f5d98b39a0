#include "remediator/act/controller.h"
#include "remediator/cluster/view_queries.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using fakes::FaultKind;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kNode = "/api/v1/nodes/gpu-01";

class ReconcilerTest : public ClusterTest {
 protected:
  void quarantine(Severity severity = Severity::kReboot) {
    ASSERT_TRUE(take({signal(severity)}));
    ASSERT_TRUE(reconcile());
  }
  void resolve() {
    clock_.advance(minutes(1));
    ASSERT_TRUE(take({signal(Severity::kReboot, false)}));
  }
  void report_good() {
    clock_.advance(minutes(1));
    reports_.answer = report_of(Severity::kNone);
  }
};

TEST_F(ReconcilerTest, TaintsAndCordonsInOnePatch) {
  quarantine();

  expect_quarantined();
  EXPECT_EQ(node_writes(), 1U);
  EXPECT_THAT(kube_.requests("PATCH", kNode)[0].body, HasSubstr("resourceVersion"));
  const auto mark = owner_annotation_on(node());
  EXPECT_EQ(mark->name, remediation().name);
  EXPECT_EQ(mark->severity, Severity::kReboot);
  EXPECT_FALSE(mark->pre_existing_cordon);
  EXPECT_EQ(remediation().status.pre_existing_cordon, false);
}

TEST_F(ReconcilerTest, WritesTheIntentBeforeAndTheResultAfter) {
  quarantine();

  std::vector<std::string> writes;
  for (const auto& request : kube_.requests()) {
    if (request.method == "PATCH" || request.path.ends_with("/status"))
      writes.push_back(request.path);
  }
  const std::string status =
      "/apis/gpuward.dev/v1alpha1/remediations/" + remediation().name + "/status";
  EXPECT_THAT(writes, ElementsAre(status, kNode, status));
  EXPECT_THAT(replica_->recorder.moments, ElementsAre(AuditMoment::kDecided, AuditMoment::kDone));
}

TEST_F(ReconcilerTest, SaysSoInAnEventWithTheNodesUid) {
  quarantine();

  ASSERT_THAT(replica_->announcer.events, SizeIs(1));
  EXPECT_EQ(replica_->announcer.events[0].reason, "GpuwardQuarantined");
  EXPECT_EQ(replica_->announcer.events[0].node_uid, node().meta.uid);
}

TEST_F(ReconcilerTest, WritesNothingIfAllIsDone) {
  quarantine();
  kube_.clear_requests();

  ASSERT_TRUE(reconcile());
  restart();
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(writes(), 0U);
  EXPECT_THAT(replica_->recorder.moments, IsEmpty());
}

TEST_F(ReconcilerTest, ObserveWritesNothingOnTheNode) {
  set_policy(Mode::kObserve);

  quarantine();

  EXPECT_EQ(node_writes(), 0U);
  EXPECT_EQ(remediation().status.phase, Phase::kObserved);
  EXPECT_THAT(remediation().status.message, HasSubstr("would run taint, cordon"));
  EXPECT_THAT(replica_->recorder.verdicts, ElementsAre(Verdict::kRecord));
}

TEST_F(ReconcilerTest, MonitorIsRecordedOnly) {
  quarantine(Severity::kMonitor);

  EXPECT_EQ(node_writes(), 0U);
  EXPECT_EQ(remediation().status.phase, Phase::kObserved);
}

TEST_F(ReconcilerTest, ModeTaintDoesNotCordon) {
  set_policy(Mode::kTaint);

  quarantine();

  EXPECT_EQ(our_taint_on(node()), "reboot");
  EXPECT_FALSE(node().unschedulable);
  EXPECT_FALSE(remediation().status.find(Step::kCordon));
}

TEST_F(ReconcilerTest, ActsOnAnOpenRemediationWhenTheModeIsRaised) {
  set_policy(Mode::kObserve);
  quarantine();
  set_policy(Mode::kTaint);
  ASSERT_TRUE(reconcile());
  EXPECT_FALSE(node().unschedulable);
  set_policy(Mode::kCordon);

  ASSERT_TRUE(reconcile());

  expect_quarantined();
  EXPECT_FALSE(owner_annotation_on(node())->pre_existing_cordon);
}

TEST_F(ReconcilerTest, LeavesWhatStandsWhenTheModeIsLowered) {
  quarantine();
  set_policy(Mode::kObserve);
  kube_.clear_requests();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(node_writes(), 0U);
  EXPECT_EQ(our_taint_on(node()), "reboot");
}

TEST_F(ReconcilerTest, ReplacesTheTaintsValueWhenSeverityRises) {
  quarantine(Severity::kReset);
  ASSERT_TRUE(take({signal(Severity::kIsolate)}));

  ASSERT_TRUE(reconcile());

  expect_quarantined("isolate");
  EXPECT_THAT(node().taints, SizeIs(1));
  EXPECT_EQ(owner_annotation_on(node())->severity, Severity::kIsolate);
}

TEST_F(ReconcilerTest, KeepsTheTaintsOfOthersAsTheyAre) {
  kube_.patch(kNode, {{"spec",
                       {{"taints", Json::array({{{"key", "dedicated"},
                                                 {"value", "gpu"},
                                                 {"effect", "NoSchedule"},
                                                 {"timeAdded", "2026-01-01T00:00:00Z"}}})}}}});

  quarantine();

  const Json taints = kube_.get(kNode)["spec"]["taints"];
  ASSERT_EQ(taints.size(), 2U);
  EXPECT_EQ(taints[0]["key"], "dedicated");
  EXPECT_EQ(taints[0]["timeAdded"], "2026-01-01T00:00:00Z");
}

TEST_F(ReconcilerTest, NeverUndoesAForeignCordon) {
  kube_.patch(kNode, {{"spec", {{"unschedulable", true}}}});
  set_policy(Mode::kCordon, true);
  quarantine();
  EXPECT_TRUE(owner_annotation_on(node())->pre_existing_cordon);
  EXPECT_EQ(remediation().status.pre_existing_cordon, true);
  resolve();
  report_good();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_TRUE(node().unschedulable);
}

TEST_F(ReconcilerTest, PausesIfAHumanUncordons) {
  quarantine();
  kube_.patch(kNode, {{"spec", {{"unschedulable", nullptr}}}});

  ASSERT_TRUE(reconcile());
  kube_.clear_requests();
  ASSERT_TRUE(take({signal(Severity::kIsolate)}));
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kPaused);
  EXPECT_EQ(node_writes(), 0U);
  EXPECT_FALSE(node().unschedulable);
  EXPECT_TRUE(replica_->announcer.told.back().warning);
}

TEST_F(ReconcilerTest, PausesIfAHumanRemovesTheTaint) {
  quarantine();
  kube_.patch(kNode, {{"spec", {{"taints", Json::array()}}}});

  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kPaused);
  EXPECT_FALSE(our_taint_on(node()));
}

// gpuward paused because the taint was gone. The operator removed the cordon and set it again only
// after that.
TEST_F(ReconcilerTest, LeavesACordonThatAHumanHasPutWhileItWasPaused) {
  quarantine();
  kube_.patch(kNode, {{"spec", {{"taints", Json::array()}}}});
  ASSERT_TRUE(reconcile());
  kube_.patch(kNode, {{"spec", {{"unschedulable", nullptr}}}});
  ASSERT_TRUE(reconcile());
  kube_.patch(kNode, {{"spec", {{"unschedulable", true}}}});
  kube_.patch(remediation_collection() + "/" + remediation().name,
              {{"metadata", {{"annotations", {{"gpuward.dev/cancel", "true"}}}}}});

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  EXPECT_TRUE(node().unschedulable);
}

TEST_F(ReconcilerTest, NeverTouchesANewNodeOfTheSameName) {
  ASSERT_TRUE(take({signal()}));
  kube_.remove(kNode);
  add_node("gpu-01");

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kSuperseded);
  EXPECT_TRUE(remediation().status.closed_at);
  EXPECT_EQ(node_writes(), 0U);
}

TEST_F(ReconcilerTest, ClosesIfTheNodeIsGone) {
  quarantine();
  kube_.remove(kNode);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kSuperseded);
}

TEST_F(ReconcilerTest, KeepsItsHandsOffANodeThatSomebodyHasTakenOut) {
  kube_.patch(kNode, {{"metadata", {{"labels", {{"gpuward.dev/managed", "false"}}}}}});

  quarantine();

  EXPECT_EQ(node_writes(), 0U);
  EXPECT_EQ(remediation().status.phase, Phase::kObserved);
  EXPECT_THAT(remediation().status.message, HasSubstr("managed=false"));
}

TEST_F(ReconcilerTest, RecordsWhatTheKernelItselfSaysAfterItHasActed) {
  report_good();
  reports_.answer->confirmed_severity = Severity::kReboot;

  quarantine();

  expect_quarantined();
  EXPECT_FALSE(remediation().status.confirmed_severity);
  ASSERT_TRUE(look_.look_again.has_value());
  EXPECT_LE(*look_.look_again, seconds(5));
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.confirmed_severity, Severity::kReboot);
  kube_.clear_requests();
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(writes(), 0U);
}

TEST_F(ReconcilerTest, KnowsItsOwnChangeOfANodeWhenItComesBack) {
  quarantine();

  EXPECT_TRUE(is_own_change(replica_->view, "gpu-01", node().meta.resource_version));
  kube_.patch(kNode, {{"metadata", {{"labels", {{"theirs", "1"}}}}}});
  EXPECT_FALSE(is_own_change(replica_->view, "gpu-01", node().meta.resource_version));
}

TEST_F(ReconcilerTest, RecordsThatTheKernelItselfSaysNothing) {
  report_good();

  quarantine();
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.confirmed_severity, Severity::kNone);
}

TEST_F(ReconcilerTest, DoesNotKnowWhatTheKernelSaysFromAReportOfAnotherBoot) {
  report_good();
  reports_.answer->confirmed_severity = Severity::kReboot;
  reports_.answer->boot_id = "another";

  quarantine();
  ASSERT_TRUE(reconcile());

  expect_quarantined();
  EXPECT_FALSE(remediation().status.confirmed_severity);
}

TEST_F(ReconcilerTest, QuarantinesIfNothingIsKnownOfTheKernel) {
  reports_.answer = fail(ErrorKind::kTimeout, "slow");

  quarantine();

  expect_quarantined();
  EXPECT_FALSE(remediation().status.confirmed_severity);
}

TEST_F(ReconcilerTest, DoesNothingBecauseAnAlertEnded) {
  quarantine();
  resolve();
  kube_.clear_requests();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(node_writes(), 0U);
  expect_quarantined();
}

TEST_F(ReconcilerTest, ReturnsANodeThatAFreshReportCallsWell) {
  set_policy(Mode::kCordon, true);
  quarantine();
  resolve();
  report_good();
  kube_.clear_requests();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_FALSE(owner_annotation_on(node()));
  EXPECT_FALSE(node().unschedulable);
  EXPECT_EQ(node_writes(), 1U);
}

TEST_F(ReconcilerTest, HoldsANodeWithoutAGoodReportAndLooksAgain) {
  set_policy(Mode::kCordon, true);
  quarantine();
  resolve();

  ASSERT_TRUE(reconcile());

  EXPECT_THAT(remediation().status.message, HasSubstr("no health report"));
  EXPECT_TRUE(look_.look_again);
  report_good();
  reports_.answer->boot_id = "another";
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(remediation().status.message, HasSubstr("another boot"));
  EXPECT_EQ(our_taint_on(node()), "reboot");
}

TEST_F(ReconcilerTest, WritesOneStatusHoweverOftenPrometheusDoesNotAnswer) {
  set_policy(Mode::kCordon, true);
  quarantine();
  resolve();
  reports_.answer = fail(ErrorKind::kTimeout, "timed out after 2001 milliseconds");
  ASSERT_TRUE(reconcile());
  kube_.clear_requests();

  reports_.answer = fail(ErrorKind::kUnavailable, "failed to connect after 3 ms");
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(writes(), 0U);
  EXPECT_THAT(remediation().status.message, HasSubstr("Prometheus does not answer"));
  EXPECT_THAT(replica_->recorder.errors, SizeIs(2));
}

TEST_F(ReconcilerTest, DoesNotReturnANodeOfWhichOneAlertStillFires) {
  set_policy(Mode::kCordon, true);
  quarantine();
  AlertSignal other = signal(Severity::kReset);
  other.fingerprint = "cd";
  ASSERT_TRUE(take({other}));
  resolve();
  report_good();

  ASSERT_TRUE(reconcile());

  expect_quarantined();
}

TEST_F(ReconcilerTest, ClosesWithoutATraceIfTheAlertEndedBeforeAnythingWasDone) {
  ASSERT_TRUE(take({signal()}));
  resolve();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kEnded);
  EXPECT_EQ(node_writes(), 0U);
}

TEST_F(ReconcilerTest, RedoesWhatMeetsAConflict) {
  ASSERT_TRUE(take({signal()}));
  kube_.add_fault(
      {.kind = FaultKind::kConflict, .method = "PATCH", .path = "/api/v1/nodes/.*", .times = 3});

  ASSERT_TRUE(reconcile());

  expect_quarantined();
  EXPECT_EQ(remediation().status.find(Step::kTaint)->attempts, 1);
}

TEST_F(ReconcilerTest, RecordsAFailureThatWillNotGoAwayByItself) {
  ASSERT_TRUE(take({signal()}));
  kube_.add_fault(
      {.kind = FaultKind::kForbidden, .method = "PATCH", .path = "/api/v1/nodes/.*", .times = -1});

  EXPECT_FALSE(reconcile(1));

  EXPECT_EQ(remediation().status.find(Step::kTaint)->result, StepResult::kFailed);
  EXPECT_THAT(replica_->recorder.moments, Contains(AuditMoment::kFailed));
  kube_.clear_faults();
  ASSERT_TRUE(reconcile());
  expect_quarantined();
}

TEST_F(ReconcilerTest, DoesNotDropANodeWhoseReadFails) {
  ASSERT_TRUE(take({signal()}));
  kube_.add_fault({.kind = FaultKind::kConflict, .method = "PUT", .times = 1});
  EXPECT_FALSE(reconcile(1));
  kube_.add_fault({.kind = FaultKind::kUnavailable, .method = "GET", .times = 2});

  EXPECT_FALSE(reconcile(1));
  ASSERT_TRUE(reconcile());

  expect_quarantined();
}

// Any request of a quarantine and of a return may be the last one of a process, or lose its answer.
struct Cut {
  FaultKind kind;
  int after;
};

class ReconcilerCutOff : public ReconcilerTest, public ::testing::WithParamInterface<Cut> {};

TEST_P(ReconcilerCutOff, IsContinuedByTheNextProcess) {
  set_policy(Mode::kCordon, true);
  ASSERT_TRUE(take({signal()}));
  kube_.add_fault({.kind = GetParam().kind, .times = 1, .skip = GetParam().after});
  (void)reconcile(1);
  kube_.clear_faults();
  restart();

  ASSERT_TRUE(reconcile());

  expect_quarantined();
  EXPECT_FALSE(owner_annotation_on(node())->pre_existing_cordon);
  EXPECT_THAT(node().taints, SizeIs(1));
}

TEST_P(ReconcilerCutOff, ContinuesAReturnToo) {
  set_policy(Mode::kCordon, true);
  quarantine();
  resolve();
  report_good();
  kube_.add_fault({.kind = GetParam().kind, .times = 1, .skip = GetParam().after});
  (void)reconcile(1);
  kube_.clear_faults();
  restart();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
  EXPECT_TRUE(remediation().status.has_done(Step::kReturn));
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_FALSE(node().unschedulable);
}

INSTANTIATE_TEST_SUITE_P(
    EveryRequest, ReconcilerCutOff,
    ::testing::Values(Cut{FaultKind::kDropBefore, 0}, Cut{FaultKind::kDropBefore, 1},
                      Cut{FaultKind::kDropBefore, 2}, Cut{FaultKind::kDropBefore, 3},
                      Cut{FaultKind::kDropBefore, 4}, Cut{FaultKind::kDropAfter, 0},
                      Cut{FaultKind::kDropAfter, 1}, Cut{FaultKind::kDropAfter, 2},
                      Cut{FaultKind::kDropAfter, 3}, Cut{FaultKind::kDropAfter, 4},
                      Cut{FaultKind::kInternalError, 2}, Cut{FaultKind::kConflict, 3}));

// The process died between the intent and the change of the node, and an operator removed the
// annotation. Except for the cordon, the node looks returned.
TEST_F(ReconcilerTest, TellsOfACordonOfWhichItIsUnknownWhoseItIsIfSomebodyCancels) {
  quarantine();
  const std::string path = "/apis/gpuward.dev/v1alpha1/remediations/" + remediation().name;
  kube_.patch(path, {{"metadata", {{"annotations", {{"gpuward.dev/cancel", "true"}}}}}});
  kube_.add_fault({.kind = FaultKind::kDropBefore, .method = "PATCH", .path = "/api/v1/nodes/.*"});
  (void)reconcile(1);
  kube_.clear_faults();
  ASSERT_NE(remediation().status.find(Step::kReturn), nullptr);
  kube_.patch("/api/v1/nodes/gpu-01",
              {{"metadata", {{"annotations", {{std::string(kAnnotation), nullptr}}}}},
               {"spec", {{"taints", Json::array()}}}});
  restart();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_EQ(remediation().status.notified_phase, Phase::kHeld);
  EXPECT_THAT(remediation().status.message, HasSubstr("cannot tell who set the cordon"));
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  EXPECT_TRUE(node().unschedulable) << "it may be somebody else's";
}

TEST_F(ReconcilerTest, QuarantinesAnewAfterAReturnThatANewAlertOvertook) {
  set_policy(Mode::kCordon, true);
  quarantine();
  resolve();
  report_good();
  // The node is returned, but the process ends before it can record that (request 3 patches the
  // node).
  kube_.add_fault({.kind = FaultKind::kDropAfter, .method = "PATCH", .path = kNode});
  (void)reconcile(1);
  ASSERT_FALSE(our_taint_on(node()));
  restart();
  clock_.advance(minutes(1));
  ASSERT_TRUE(take({signal(Severity::kIsolate)}));

  ASSERT_TRUE(reconcile());

  expect_quarantined("isolate");
  EXPECT_THAT(remediations(), SizeIs(1));
}

}  // namespace
}  // namespace gpuward::remediator
