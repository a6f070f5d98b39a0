// Announcements of clouds, from the annotation of the Node to the drain and back.
#include "core/kube/node_announcements.h"
#include "remediator/cluster/view_queries.h"
#include "remediator/inbox/sources/announcement_source.h"
#include "remediator/model/announced.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class MaintenanceTest : public ClusterTest {
 protected:
  MaintenanceTest() {
    clock_.advance(minutes(15));  // the startup grace is over
    force({planned(Step::kCordon), planned(Step::kDrain), planned(Step::kVerify),
           planned(Step::kReturn)});
    reports_.answer = report_of(Severity::kNone);
    start_ = clock_.wall() + hours(2);
  }
  void force(std::vector<PlannedStep> steps, Mode mode = Mode::kFull) {
    Policy policy;
    policy.mode = mode;
    policy.maintenance[AnnouncementKind::kReboot] = {.steps = std::move(steps),
                                                     .drain_takes = minutes(30)};
    policy_.set(policy);
  }
  NodeAnnouncement one(AnnouncementKind kind = AnnouncementKind::kReboot) {
    return {.announced = {.id = "instance-event-1",
                          .kind = kind,
                          .announced_by = "aws",
                          .what = "system-reboot: scheduled reboot",
                          .start = start_,
                          .first_seen = seen_,
                          .workload = "ml/train-0"},
            .is_stale = false,
            .boot_id = "boot-gpu-01"};
  }
  void write(const std::vector<NodeAnnouncement>& list) {
    const Json value = list.empty() ? Json(nullptr) : Json(node_announcements_text(list));
    kube_.patch(
        "/api/v1/nodes/gpu-01",
        {{"metadata", {{"annotations", {{std::string(kAnnouncementsAnnotation), value}}}}}});
  }
  // The exporter of the node announces it, and the remediator sees it.
  void announce(const std::vector<NodeAnnouncement>& list) {
    write(list);
    catch_up(*replica_);
    const auto found = AnnouncementSource(policy_, replica_->view, replica_->view, clock_).look();
    ASSERT_TRUE(found);
    if (found->signals.empty()) return;
    ASSERT_TRUE(take(found->signals));
  }
  // By a view of the Node that is older than the record, nothing is announced any more.
  void end_by_an_older_view() {
    write({});
    catch_up(*replica_);
    const auto found = AnnouncementSource(policy_, replica_->view, replica_->view, clock_).look();
    ASSERT_TRUE(found);
    ASSERT_THAT(found->signals, SizeIs(1));
    write({one()});
    ASSERT_TRUE(take(found->signals));
  }
  // Reconciles as often as in a while of normal operation.
  void turns(int count = 4) {
    for (int i = 0; i < count; ++i) {
      if (reports_.answer) reports_.answer->measured_at = clock_.wall();
      ASSERT_TRUE(reconcile());
    }
  }
  void advance(std::chrono::nanoseconds by) {
    clock_.advance(by);
    turns();
  }
  void drained() {
    StepProgress done;
    done.result = StepResult::kDone;
    steps_[Step::kDrain].progress = done;
    turns(2);
  }
  int drains() { return steps_[Step::kDrain].begun; }
  std::string rule() { return remediation().status.rule; }

  WallTime start_, seen_ = clock_.wall() + minutes(14);
};

TEST_F(MaintenanceTest, IsOnlyRecordedAndNotifiedIfThePolicySaysNothing) {
  set_policy(Mode::kFull);
  announce({one()});
  advance(hours(3));

  EXPECT_EQ(remediation().status.phase, Phase::kObserved);
  EXPECT_FALSE(node().unschedulable);
  EXPECT_EQ(drains(), 0);
  EXPECT_THAT(remediation().status.message, HasSubstr("reboot from"));
  EXPECT_THAT(remediation().status.message, HasSubstr("which hits ml/train-0"));
}

TEST_F(MaintenanceTest, OfAKindThatIsNotTakenUpOpensNothing) {
  announce({one(AnnouncementKind::kRebalance), one(AnnouncementKind::kFreeze)});
  turns();
  EXPECT_THAT(remediations(), IsEmpty());
}

TEST_F(MaintenanceTest, CordonsAtOnceAndDrainsSoThatItIsOverBeforeTheStart) {
  announce({one()});
  turns();
  EXPECT_TRUE(node().unschedulable);
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_EQ(rule(), "wait.maintenance");
  EXPECT_EQ(drains(), 0);

  advance(minutes(89));
  EXPECT_EQ(drains(), 0);
  advance(minutes(2));
  EXPECT_EQ(drains(), 1);
  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
}

TEST_F(MaintenanceTest, BeginsAtOnceIfTheCloudGivesLessTimeThanADrainTakes) {
  start_ = clock_.wall() + minutes(2);
  announce({one()});
  turns();
  EXPECT_EQ(drains(), 1);
}

TEST_F(MaintenanceTest, StaysDrainedUntilTheCloudSaysThatItIsOverAndReturnsThen) {
  start_ = clock_.wall() + minutes(10);
  announce({one()});
  turns();
  drained();
  advance(hours(6));
  EXPECT_EQ(rule(), "wait.maintenance");
  EXPECT_EQ(steps_[Step::kVerify].begun, 0);
  EXPECT_TRUE(node().unschedulable);

  announce({});
  advance(minutes(1));
  EXPECT_EQ(steps_[Step::kVerify].begun, 1);
  StepProgress done;
  done.result = StepResult::kDone;
  steps_[Step::kVerify].progress = done;
  turns();
  EXPECT_FALSE(node().unschedulable);
  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
}

TEST_F(MaintenanceTest, WhoseEndAnOlderViewHasToldReturnsNothingWhileTheNodeSaysOtherwise) {
  announce({one()});
  turns();
  ASSERT_TRUE(node().unschedulable);
  end_by_an_older_view();
  advance(minutes(1));
  EXPECT_TRUE(node().unschedulable);
  EXPECT_EQ(rule(), "return_to_service");
  EXPECT_THAT(remediation().status.message, HasSubstr("but the node reports: reboot from"));

  write({});
  advance(minutes(1));
  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
}

TEST_F(MaintenanceTest, WhoseEndAnOlderViewHasToldIsNotVerifiedWhileTheNodeSaysOtherwise) {
  start_ = clock_.wall() + minutes(10);
  announce({one()});
  turns();
  drained();
  end_by_an_older_view();
  advance(minutes(1));
  EXPECT_EQ(rule(), "wait.maintenance");
  EXPECT_EQ(steps_[Step::kVerify].begun, 0);

  write({});
  advance(minutes(1));
  EXPECT_EQ(steps_[Step::kVerify].begun, 1);
}

// The machine restarts for the announced maintenance, and its exporter has not written yet: the
// Node still has the announcements of the earlier boot.
TEST_F(MaintenanceTest, WhoseEndAnOlderViewHasToldIsNotOverBecauseTheMachineIsInAnotherBoot) {
  announce({one()});
  turns();
  end_by_an_older_view();
  kube_.patch("/api/v1/nodes/gpu-01/status", {{"status", {{"nodeInfo", {{"bootID", "next"}}}}}});
  reports_.answer->boot_id = "next";
  advance(minutes(1));
  EXPECT_TRUE(node().unschedulable);
  EXPECT_THAT(remediation().status.message, HasSubstr("but the node reports: reboot from"));

  write({});
  advance(minutes(1));
  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
}

// The announcement fired again after that end. For an ordinary alert the next end might be false
// too.
TEST_F(MaintenanceTest, WhoseEndWasNoneOnceIsOverWhenTheNodeNoLongerHasIt) {
  announce({one()});
  turns();
  end_by_an_older_view();
  clock_.advance(minutes(6));
  announce({one()});
  ASSERT_TRUE(remediation().alerts.front().firing());
  ASSERT_TRUE(remediation().alerts.front().contested);
  reports_.answer = report_of(Severity::kMonitor);
  turns();
  announce({});
  advance(minutes(1));
  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
  EXPECT_FALSE(node().unschedulable);
}

TEST_F(MaintenanceTest, WhoseEndAnOlderViewHasToldKeepsANodeThatHadAFaultToo) {
  Policy policy = *policy_.get();
  policy.steps[Severity::kReset] = {planned(Step::kTaint), planned(Step::kCordon)};
  policy.return_to_service.enabled = true;
  policy_.set(policy);
  reports_.answer = report_of(Severity::kReset);
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  announce({one()});
  turns();
  end_by_an_older_view();
  ASSERT_TRUE(take({signal(Severity::kReset, false)}));
  reports_.answer = report_of(Severity::kNone);
  advance(minutes(1));
  EXPECT_TRUE(node().unschedulable);
  EXPECT_THAT(remediation().status.message, HasSubstr("but the node reports: reboot from"));
}

// The fault of the taint is over. The cordon had no budget while the maintenance was announced.
TEST_F(MaintenanceTest, ThatIsOverIsNotWaitedForWithACordon) {
  Policy policy = *policy_.get();
  policy.steps[Severity::kReset] = {planned(Step::kTaint), planned(Step::kCollectEvidence),
                                    planned(Step::kDrain)};
  policy.steps[Severity::kReset].back().before.approval = true;
  policy_.set(policy);
  StepProgress done;
  done.result = StepResult::kDone;
  steps_[Step::kCollectEvidence].progress = done;
  reports_.answer = report_of(Severity::kReset);
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  turns();
  ASSERT_TRUE(our_taint_on(node()));
  slots_.answer = SlotRefusal{.guard = "budget.cordon", .message = "no room", .has_taint = true};
  ASSERT_TRUE(take({signal(Severity::kMonitor)}));
  ASSERT_TRUE(take({signal(Severity::kReset, false)}));
  announce({one()});
  reports_.answer = report_of(Severity::kMonitor);
  advance(minutes(1));
  ASSERT_EQ(rule(), "maintenance.budget");

  announce({});
  steps_[Step::kVerify].progress = done;
  advance(minutes(1));
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
}

TEST_F(MaintenanceTest, ThatIsCancelledBeforeItsDrainTakesTheCordonOffAndDrainsNothing) {
  announce({one()});
  turns();
  ASSERT_TRUE(node().unschedulable);
  announce({});
  advance(minutes(1));
  EXPECT_FALSE(node().unschedulable);
  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
  advance(hours(3));
  EXPECT_EQ(drains(), 0);
}

TEST_F(MaintenanceTest, ThatIsCancelledWhileItDrainsIsLeft) {
  start_ = clock_.wall() + minutes(2);
  announce({one()});
  turns();
  ASSERT_EQ(drains(), 1);
  const int watched = steps_[Step::kDrain].watched;
  announce({});
  advance(minutes(1));
  EXPECT_EQ(steps_[Step::kDrain].watched, watched);
  EXPECT_FALSE(node().unschedulable);
}

// The drain continues in the record, and hides no step that follows it.
TEST_F(MaintenanceTest, ThatIsCancelledWhileItDrainsIsVerifiedOnceByThePlanOfAnother) {
  Policy policy;
  policy.mode = Mode::kFull;
  policy.maintenance[AnnouncementKind::kFreeze] = {
      .steps = {planned(Step::kCordon), planned(Step::kDrain)}, .drain_takes = minutes(30)};
  policy.maintenance[AnnouncementKind::kReboot] = {
      .steps = {planned(Step::kCordon), planned(Step::kVerify), planned(Step::kReturn)}};
  policy_.set(policy);
  start_ = clock_.wall() + minutes(2);
  NodeAnnouncement freeze = one(AnnouncementKind::kFreeze);
  freeze.announced.id = "instance-event-2";
  announce({one(), freeze});
  turns();
  announce({freeze});
  turns();
  ASSERT_EQ(drains(), 1);

  announce({});
  turns();
  EXPECT_EQ(steps_[Step::kVerify].begun, 1);
  EXPECT_GT(steps_[Step::kVerify].watched, 0);
}

TEST_F(MaintenanceTest, ThatIsMovedIsDrainedForItsNewStart) {
  announce({one()});
  turns();
  start_ += hours(24);
  announce({one()});
  advance(hours(3));
  EXPECT_EQ(drains(), 0);
  EXPECT_EQ(rule(), "wait.maintenance");
  advance(hours(23));
  EXPECT_EQ(drains(), 1);
}

// The Node may now be another machine, or the exporter may not have asked the cloud yet.
TEST_F(MaintenanceTest, DrainsNothingForWhatWasReadInAnotherBoot) {
  start_ = clock_.wall() + minutes(2);
  NodeAnnouncement old = one();
  old.boot_id = "boot-of-another";
  announce({old});
  turns();
  EXPECT_EQ(drains(), 0);
  EXPECT_EQ(rule(), "guard.announcement");
}

TEST_F(MaintenanceTest, DrainsNothingForWhatTheCloudHasNotConfirmedForLong) {
  start_ = clock_.wall() + minutes(2);
  NodeAnnouncement stale = one();
  stale.is_stale = true;
  announce({stale});
  turns();
  EXPECT_EQ(drains(), 0);
  EXPECT_EQ(rule(), "guard.announcement");
}

TEST_F(MaintenanceTest, DrainsNothingWithoutAFreshReportOfTheExporter) {
  start_ = clock_.wall() + minutes(2);
  reports_.answer = fail(ErrorKind::kNotFound, "nothing known");
  announce({one()});
  turns();
  EXPECT_EQ(drains(), 0);
  EXPECT_EQ(rule(), "guard.evidence");
}

TEST_F(MaintenanceTest, GoesNoFurtherThanTheMode) {
  force({planned(Step::kCordon), planned(Step::kDrain)}, Mode::kCordon);
  start_ = clock_.wall() + minutes(2);
  announce({one()});
  advance(minutes(5));
  EXPECT_TRUE(node().unschedulable);
  EXPECT_EQ(drains(), 0);

  force({planned(Step::kCordon), planned(Step::kDrain)}, Mode::kObserve);
  EXPECT_EQ(drains(), 0);
}

TEST_F(MaintenanceTest, ThatABudgetHoldsUpIsNotifiedAndNeverForced) {
  announce({one()});
  turns();
  slots_.answer = SlotRefusal{.guard = "budget.pool", .message = "one of one is out of service"};
  advance(minutes(90));
  EXPECT_EQ(rule(), "maintenance.budget");
  EXPECT_THAT(replica_->announcer.told, IsEmpty());

  advance(minutes(2));
  EXPECT_EQ(rule(), kLateRule);
  EXPECT_EQ(remediation().status.phase, Phase::kWaiting);
  ASSERT_THAT(replica_->announcer.told, SizeIs(1));
  EXPECT_THAT(remediation().status.message, HasSubstr("one of one is out of service"));
  advance(hours(2));
  EXPECT_EQ(drains(), 0);
  EXPECT_THAT(replica_->announcer.told, SizeIs(1));
}

TEST_F(MaintenanceTest, WhoseDrainIsNotOverAtTheStartIsNotified) {
  announce({one()});
  turns();
  advance(minutes(91));
  ASSERT_EQ(drains(), 1);
  advance(minutes(28));
  EXPECT_THAT(replica_->announcer.told, IsEmpty());
  advance(minutes(2));
  EXPECT_EQ(rule(), kLateRule);
  EXPECT_THAT(replica_->announcer.told, SizeIs(1));
}

TEST_F(MaintenanceTest, WhoseCordonHasNoBudgetIsNotifiedAsLateIfTheTaintIsOn) {
  force({planned(Step::kTaint), planned(Step::kCordon), planned(Step::kDrain)});
  slots_.answer = SlotRefusal{.guard = "budget.cordon", .message = "no room", .has_taint = true};
  announce({one()});
  turns();
  ASSERT_TRUE(our_taint_on(node()));
  ASSERT_FALSE(node().unschedulable);
  EXPECT_THAT(replica_->announcer.told, IsEmpty());

  advance(minutes(92));
  EXPECT_EQ(rule(), kLateRule);
  EXPECT_THAT(replica_->announcer.told, SizeIs(1));
  EXPECT_EQ(drains(), 0);
}

TEST_F(MaintenanceTest, KeepsTheCordonIfAFaultComesWhoseTaintHasNoBudget) {
  announce({one()});
  turns();
  slots_.answer = SlotRefusal{.guard = "budget.taint", .message = "1 of 1 are tainted"};
  ASSERT_TRUE(take({signal(Severity::kReboot)}));
  turns();
  EXPECT_EQ(rule(), "budget.taint");
  EXPECT_TRUE(node().unschedulable);
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_THAT(remediation().status.message,
              HasSubstr("the taint waits and the cordon stays: 1 of 1 are tainted"));
}

// The process died before it wrote the result of the cordon.
TEST_F(MaintenanceTest, WhoseCordonNobodyCanExplainIsTaintedAndHeldIfAFaultComes) {
  announce({one()});
  turns(1);
  ASSERT_TRUE(node().unschedulable);
  const std::string path = "/apis/gpuward.dev/v1alpha1/remediations/" + remediation().name;
  Json steps = kube_.get(path).at("status").at("steps");
  ASSERT_EQ(steps.at(0).at("name"), "cordon");
  steps.at(0)["result"] = "intended";
  kube_.patch_status(path, {{"status", {{"steps", steps}}}});
  OwnerAnnotation other = *owner_annotation_on(node());
  other.name = "gpu-x-1";
  kube_.patch(
      "/api/v1/nodes/gpu-01",
      {{"metadata", {{"annotations", {{std::string(kAnnotation), to_annotation(other)}}}}}});
  restart();
  ASSERT_TRUE(take({signal(Severity::kReboot)}));
  turns();

  EXPECT_TRUE(our_taint_on(node()));
  EXPECT_TRUE(node().unschedulable);
  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_EQ(rule(), kOwnershipRule);
  EXPECT_EQ(remediation().status.pre_existing_cordon, false);
  EXPECT_THAT(replica_->announcer.told, SizeIs(1));
}

TEST_F(MaintenanceTest, ThatIsLateHidesNoFaultThatABudgetLeavesInService) {
  slots_.answer = SlotRefusal{.guard = "budget.taint", .message = "1 of 1 are tainted"};
  start_ = clock_.wall() + minutes(2);
  announce({one()});
  advance(minutes(4));
  ASSERT_EQ(rule(), kLateRule);
  ASSERT_THAT(replica_->announcer.told, SizeIs(1));
  ASSERT_TRUE(take({signal(Severity::kReboot)}));
  turns();
  EXPECT_EQ(rule(), "budget.taint");
  EXPECT_THAT(replica_->announcer.told, SizeIs(2));
}

// A warning that has no steps of its own fires for weeks.
TEST_F(MaintenanceTest, ThatIsCancelledIsOverBesideAnAlertOfSeverityMonitor) {
  announce({one()});
  ASSERT_TRUE(take({signal(Severity::kMonitor)}));
  turns();
  ASSERT_TRUE(node().unschedulable);
  announce({});
  advance(minutes(1));
  EXPECT_FALSE(node().unschedulable);
  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
}

TEST_F(MaintenanceTest, GoesBackBesideAnAlertOfSeverityMonitorAndEscalatesNothing) {
  start_ = clock_.wall() + minutes(10);
  announce({one()});
  ASSERT_TRUE(take({signal(Severity::kMonitor)}));
  turns();
  drained();
  announce({});
  StepProgress done;
  done.result = StepResult::kDone;
  steps_[Step::kVerify].progress = done;
  advance(minutes(1));
  EXPECT_FALSE(remediation().status.escalated_to);
  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
}

TEST_F(MaintenanceTest, ThatFollowsRightAfterAnotherKeepsTheNodeOutAndEscalatesNothing) {
  start_ = clock_.wall() + minutes(10);
  announce({one()});
  turns();
  drained();
  announce({});
  advance(minutes(1));
  ASSERT_EQ(steps_[Step::kVerify].begun, 1);
  NodeAnnouncement next = one();
  next.announced.id = "instance-event-2";
  announce({next});
  StepProgress done;
  done.result = StepResult::kDone;
  steps_[Step::kVerify].progress = done;
  advance(minutes(1));
  EXPECT_FALSE(remediation().status.escalated_to);
  EXPECT_TRUE(node().unschedulable);
  EXPECT_EQ(rule(), "wait.maintenance");
}

TEST_F(MaintenanceTest, AfterWhichTheNodeIsNotHealthyIsLeftToAnOperator) {
  start_ = clock_.wall() + minutes(10);
  announce({one()});
  turns();
  drained();
  announce({});
  StepProgress failed;
  failed.result = StepResult::kFailed;
  failed.message = "the node is not Ready";
  steps_[Step::kVerify].progress = failed;
  advance(minutes(1));
  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_FALSE(remediation().status.escalated_to);
  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
}

// A cloud that maintains a rack does not cause false findings on many nodes.
TEST_F(MaintenanceTest, IsNoPartOfAStorm) {
  announce({one()});
  turns();
  with_fleet(replica_->view, [](const Fleet& fleet) {
    for (const auto& [uid, node] : fleet.nodes) EXPECT_THAT(node.alerts, IsEmpty());
  });
}

TEST_F(MaintenanceTest, GivesWayToAFaultOfTheNode) {
  announce({one()});
  turns();
  reports_.answer = report_of(Severity::kReboot);
  ASSERT_TRUE(take({signal(Severity::kReboot)}));
  turns();
  EXPECT_EQ(our_taint_on(node()), "reboot");
  EXPECT_EQ(rule().substr(0, 11), "severities.");
}

// A maintenance that is announced for next week does not keep a healthy node out of service.
TEST_F(MaintenanceTest, ThatIsOnlyRecordedKeepsNoFaultOpen) {
  set_policy(Mode::kFull, true);
  reports_.answer = report_of(Severity::kReset);
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  announce({one()});
  turns();
  ASSERT_TRUE(node().unschedulable);
  ASSERT_THAT(remediations(), SizeIs(1));

  clock_.advance(minutes(1));
  ASSERT_TRUE(take({signal(Severity::kReset, false)}));
  reports_.answer = report_of(Severity::kNone);
  advance(minutes(1));
  EXPECT_FALSE(node().unschedulable);
  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
}

TEST_F(MaintenanceTest, FollowsAFaultThatIsOver) {
  announce({one()});
  reports_.answer = report_of(Severity::kReset);
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  turns();
  ASSERT_EQ(our_taint_on(node()), "reset");

  clock_.advance(minutes(1));
  ASSERT_TRUE(take({signal(Severity::kReset, false)}));
  reports_.answer = report_of(Severity::kNone);
  advance(minutes(1));
  EXPECT_EQ(remediation().acted_severity(), Severity::kMonitor);
  EXPECT_TRUE(node().unschedulable);
  EXPECT_EQ(rule(), "wait.maintenance");
}

// An operator's cancellation holds as long as the announcement.
TEST_F(MaintenanceTest, ThatAnOperatorHasCancelledIsNotTakenUpAgain) {
  announce({one()});
  turns();
  kube_.patch(remediation_collection() + "/" + remediation().name,
              {{"metadata", {{"annotations", {{"gpuward.dev/cancel", "true"}}}}}});
  turns();
  ASSERT_EQ(remediation().status.phase, Phase::kCancelled);
  clock_.advance(minutes(10));
  announce({one()});
  turns();
  EXPECT_THAT(remediations(), SizeIs(1));
  EXPECT_FALSE(node().unschedulable);
}

}  // namespace
}  // namespace gpuward::remediator
