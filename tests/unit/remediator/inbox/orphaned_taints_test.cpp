// Taints, annotations and cordons that a manual change has separated from their record.
#include "remediator/inbox/orphaned_taints.h"

#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class OrphanedMarksTest : public ClusterTest {
 protected:
  OrphanedMarksTest() { reports_.answer = report_of(Severity::kNone); }
  void quarantine() {
    ASSERT_TRUE(take({signal()}));
    ASSERT_TRUE(reconcile());
    expect_quarantined();
  }
  static std::string path_of(const std::string& name) {
    return remediation_collection() + "/" + name;
  }
  void edit_status(const std::string& name, const Json& status) {
    kube_.patch_status(path_of(name), {{"status", status}});
    catch_up(*replica_);
  }
  // Removes the finalizer, and deletes the Remediation.
  void delete_by_force(const std::string& name) {
    kube_.patch(path_of(name), {{"metadata", {{"finalizers", nullptr}}}});
    kube_.remove(path_of(name));
    replica_->view.remove_remediation(name);
  }
  void edit_node(const Json& patch) {
    kube_.patch("/api/v1/nodes/gpu-01", patch);
    catch_up(*replica_);
  }
  void annotate_node(const Json& value) {
    edit_node({{"metadata", {{"annotations", {{std::string(kAnnotation), value}}}}}});
  }
  void annotate_node(OwnerAnnotation mark) { annotate_node(Json(to_annotation(mark))); }
  void cancel(const std::string& name) {
    kube_.patch(path_of(name),
                {{"metadata", {{"annotations", {{std::string(kCancelAnnotation), "true"}}}}}});
  }
  Status sweep() {
    OrphanedTaints orphaned(api_, replica_->store, replica_->view, replica_->intake, clock_);
    return orphaned.take_in();
  }
  std::vector<Remediation> open() {
    auto all = remediations();
    std::erase_if(all, [](const Remediation& one) { return !one.open(); });
    return all;
  }
  void expect_held(const std::string& why) {
    const auto all = open();
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].status.phase, Phase::kHeld);
    EXPECT_EQ(all[0].status.rule, kOwnershipRule);
    EXPECT_THAT(all[0].status.message, HasSubstr(why));
    EXPECT_FALSE(replica_->announcer.told.empty());
  }
};

// Simulated, seed 14633: the process died before it recorded taint and cordon, and the operator who
// cancelled did not learn that the cordon stays.
TEST_F(OrphanedMarksTest, TellWhoCancelsThatACordonStaysOfWhichNothingWasRecorded) {
  quarantine();
  Json steps = kube_.get(path_of(remediation().name))["status"]["steps"];
  for (Json& step : steps) step["result"] = "intended";
  edit_status(remediation().name, {{"steps", steps}, {"phase", "Pending"}});
  annotate_node(nullptr);
  edit_node({{"spec", {{"taints", nullptr}}}});
  cancel(remediation().name);

  ASSERT_TRUE(reconcile());

  expect_held("whether the cordon is gpuward's");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  EXPECT_TRUE(node().unschedulable);
}

TEST_F(OrphanedMarksTest, AreFoundIfTheStatusWasEdited) {
  quarantine();
  edit_status(remediation().name, {{"phase", "Released"}});
  const std::string closed = remediation().name;

  ASSERT_TRUE(sweep());
  ASSERT_TRUE(reconcile());

  expect_held("the annotation on the node names " + closed);
  EXPECT_EQ(our_taint_on(node()), "reboot");
  EXPECT_TRUE(node().unschedulable);
}

TEST_F(OrphanedMarksTest, AreFoundIfTheRemediationWasDeletedByForce) {
  quarantine();
  delete_by_force(remediation().name);

  ASSERT_TRUE(sweep());
  ASSERT_TRUE(reconcile());

  expect_held("the annotation on the node names");  // the old one
  ASSERT_THAT(open()[0].alerts, SizeIs(1));
  EXPECT_EQ(open()[0].alerts[0].alertname, kOrphanedAlert);
  EXPECT_EQ(open()[0].severity, Severity::kMonitor);
}

TEST_F(OrphanedMarksTest, AreFoundIfOnlyTheCordonIsLeft) {
  quarantine();
  edit_status(remediation().name, {{"phase", "Ended"}});
  edit_node({{"metadata", {{"annotations", {{std::string(kAnnotation), nullptr}}}}},
             {"spec", {{"taints", nullptr}}}});

  ASSERT_TRUE(sweep());
  ASSERT_TRUE(reconcile());

  expect_held("the node has a cordon");
}

TEST_F(OrphanedMarksTest, AreNotRaisedAgainOnceAnOperatorHasCancelled) {
  quarantine();
  edit_status(remediation().name, {{"phase", "Ended"}});
  edit_node({{"metadata", {{"annotations", {{std::string(kAnnotation), nullptr}}}}},
             {"spec", {{"taints", nullptr}}}});
  ASSERT_TRUE(sweep());
  ASSERT_TRUE(reconcile());
  expect_held("the node has a cordon");

  cancel(open()[0].name);
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(sweep());

  EXPECT_THAT(open(), IsEmpty());
  EXPECT_TRUE(node().unschedulable);
}

TEST_F(OrphanedMarksTest, AreFoundIfALaterRemediationHasDoneNothing) {
  quarantine();
  edit_status(remediation().name, {{"phase", "Ended"}});
  edit_node({{"metadata", {{"annotations", {{std::string(kAnnotation), nullptr}}}}},
             {"spec", {{"taints", nullptr}}}});
  clock_.advance(std::chrono::minutes(6));
  ASSERT_TRUE(take({signal()}));
  edit_status(open()[0].name, {{"phase", "Ended"}});

  ASSERT_TRUE(sweep());
  ASSERT_TRUE(reconcile());

  expect_held("the node has a cordon");
}

// Simulated, seed 46463: the next Remediation overwrote a contradictory annotation, and returned
// the node with a cordon that it reported to no operator.
class CordonsLeft : public OrphanedMarksTest {
 protected:
  // Leaves the cordon of a Remediation that was closed by hand. A new fault comes before the next
  // look.
  void leave_cordon(const Json& annotation) {
    quarantine();
    edit_status(remediation().name, {{"phase", "Ended"}});
    edit_node({{"metadata", {{"annotations", {{std::string(kAnnotation), annotation}}}}},
               {"spec", {{"taints", nullptr}}}});
    clock_.advance(std::chrono::minutes(6));
  }
  void break_again_with(const Json& annotation) {
    leave_cordon(annotation);
    ASSERT_TRUE(take({signal()}));
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(reconcile());
    EXPECT_EQ(our_taint_on(node()), "reboot");  // an unhealthy node still leaves service
  }
  void cancel_open() {
    cancel(open()[0].name);
    ASSERT_TRUE(reconcile());
  }
};

TEST_F(CordonsLeft, AreHeldIfTheAnnotationNamesNobodyKnown) {
  break_again_with(to_annotation({.name = "gpu-x-1", .why = "", .since = ""}));

  expect_held("names gpu-x-1");
  EXPECT_EQ(owner_annotation_on(node())->name, "gpu-x-1");
  ASSERT_TRUE(take({signal(Severity::kReboot, false)}));
  ASSERT_TRUE(reconcile());
  expect_held("names gpu-x-1");
}

TEST_F(CordonsLeft, AreHeldIfTheAnnotationIsGone) {
  break_again_with(nullptr);

  expect_held("leftover cordon of the closed remediation gpu-01-");
}

TEST_F(CordonsLeft, AreTheOperatorsWhoCancelsAndWasTold) {
  break_again_with(nullptr);
  cancel_open();

  EXPECT_THAT(open(), IsEmpty());
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_TRUE(node().unschedulable);
  ASSERT_TRUE(sweep());
  EXPECT_THAT(open(), IsEmpty());
}

TEST_F(CordonsLeft, AreToldOfBeforeACancelTakesThemOver) {
  leave_cordon(nullptr);
  set_policy(Mode::kObserve);
  ASSERT_TRUE(take({signal()}));
  cancel(open()[0].name);

  ASSERT_TRUE(reconcile());
  expect_held("leftover cordon of the closed remediation gpu-01-");
  ASSERT_TRUE(reconcile());

  EXPECT_THAT(open(), IsEmpty());
  ASSERT_TRUE(sweep());
  EXPECT_THAT(open(), IsEmpty());
}

TEST_F(OrphanedMarksTest, OpenOneRemediationAndNoMore) {
  quarantine();
  delete_by_force(remediation().name);

  ASSERT_TRUE(sweep());
  ASSERT_TRUE(sweep());
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(sweep());

  EXPECT_THAT(remediations(), SizeIs(1));
}

TEST_F(OrphanedMarksTest, AreNotSoughtInAnOldView) {
  quarantine();
  const auto other = make_replica();
  catch_up(*other);
  other->view.remove_remediation(remediation().name);  // its informer has not delivered it yet
  OrphanedTaints early(api_, other->store, other->view, other->intake, clock_);

  ASSERT_TRUE(early.take_in());

  ASSERT_THAT(remediations(), SizeIs(1));
  EXPECT_THAT(remediation().alerts, SizeIs(1));
  // Nor in a view that has missed a release.
  cancel(remediation().name);
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kCancelled);
  other->view.put_remediation(remediation());
  ASSERT_TRUE(early.take_in());
  EXPECT_THAT(remediations(), SizeIs(1));
}

TEST_F(OrphanedMarksTest, GoWithTheWordOfAHumanButForTheCordon) {
  quarantine();
  delete_by_force(remediation().name);
  ASSERT_TRUE(sweep());
  ASSERT_TRUE(reconcile());

  cancel(remediation().name);
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(sweep());

  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_FALSE(owner_annotation_on(node()));
  EXPECT_TRUE(node().unschedulable);  // nothing proves who set it
  EXPECT_THAT(open(), IsEmpty());
}

TEST_F(OrphanedMarksTest, EndByThemselvesIfSomebodyTakesThemOff) {
  quarantine();
  delete_by_force(remediation().name);
  ASSERT_TRUE(sweep());
  ASSERT_TRUE(reconcile());
  edit_node({{"metadata", {{"annotations", {{std::string(kAnnotation), nullptr}}}}},
             {"spec", {{"taints", nullptr}, {"unschedulable", nullptr}}}});

  ASSERT_TRUE(sweep());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kEnded);
}

TEST_F(OrphanedMarksTest, KeepAnotherAlertFromDoingHarm) {
  set_policy(Mode::kFull);
  quarantine();
  delete_by_force(remediation().name);
  ASSERT_TRUE(sweep());
  ASSERT_TRUE(take({signal(Severity::kIsolate)}));
  reports_.answer = report_of(Severity::kIsolate);

  ASSERT_TRUE(reconcile());

  expect_held("");
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
}

// The process wrote the intent, and its patch met a conflict.
TEST_F(OrphanedMarksTest, KeepNoSickNodeInServiceIfItsTaintWasOnlyIntended) {
  OwnerAnnotation stale;
  stale.name = "gpu-01-0";
  annotate_node(stale);
  ASSERT_TRUE(take({signal()}));
  kube_.add_fault(
      {.kind = fakes::FaultKind::kConflict, .method = "PATCH", .path = "/api/v1/nodes/.*"});
  (void)reconcile(1);
  ASSERT_FALSE(our_taint_on(node()));
  kube_.clear_faults();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(our_taint_on(node()), "reboot");
}

TEST_F(OrphanedMarksTest, OfAStaleAnnotationDoNotMakeAnOperatorsCordonOurs) {
  quarantine();
  const Json stale = node().meta.annotations.at(std::string(kAnnotation));
  cancel(remediation().name);
  ASSERT_TRUE(reconcile());
  ASSERT_FALSE(node().unschedulable);
  annotate_node(stale);
  edit_node({{"spec", {{"unschedulable", true}}}});
  AlertSignal again = signal();
  again.starts_at += std::chrono::seconds(1);
  clock_.advance(std::chrono::seconds(2));

  ASSERT_TRUE(take({again}));
  ASSERT_TRUE(reconcile());
  ASSERT_THAT(open(), SizeIs(1));
  cancel(open()[0].name);
  ASSERT_TRUE(reconcile());
  expect_held("the annotation on the node names");
  ASSERT_TRUE(reconcile());

  EXPECT_THAT(open(), IsEmpty());
  EXPECT_TRUE(node().unschedulable);
}

// gpuward reports the contradiction even if the budget of taints has no room.
TEST_F(OrphanedMarksTest, OfAnotherRemediationHoldANodeThatMayNotBeTainted) {
  annotate_node(OwnerAnnotation{.name = "gpu-02-1", .why = "", .since = ""});
  slots_.answer = SlotRefusal{.guard = "budget.taint", .message = "1 of 1 allowed are tainted"};
  ASSERT_TRUE(take({signal()}));

  ASSERT_TRUE(reconcile());

  expect_held("names gpu-02-1");
  EXPECT_FALSE(our_taint_on(node()));
}

class EditedMarks : public OrphanedMarksTest {
 protected:
  void end_alert() {
    clock_.advance(std::chrono::seconds(1));
    ASSERT_TRUE(take({signal(Severity::kReboot, false)}));
    clock_.advance(std::chrono::seconds(1));
    reports_.answer = report_of(Severity::kNone);
    set_policy(Mode::kCordon, true);
  }
};

TEST_F(EditedMarks, ALostAnnotationKeepsNoCordonOnAReleasedNode) {
  quarantine();
  annotate_node(Json(nullptr));
  end_alert();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_FALSE(node().unschedulable);
}

TEST_F(EditedMarks, ALostAnnotationKeepsNoCordonOnACancelledNode) {
  quarantine();
  annotate_node(Json(nullptr));
  cancel(remediation().name);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_FALSE(node().unschedulable);
}

TEST_F(EditedMarks, HoldTheNodeIfTheAnnotationNamesAnother) {
  quarantine();
  OwnerAnnotation mark = *owner_annotation_on(node());
  mark.name = "gpu-02-1";
  annotate_node(mark);
  end_alert();

  ASSERT_TRUE(reconcile());

  expect_held("names gpu-02-1");
  EXPECT_EQ(our_taint_on(node()), "reboot");
}

TEST_F(EditedMarks, HoldTheNodeIfAnnotationAndRecordDiffer) {
  quarantine();
  OwnerAnnotation mark = *owner_annotation_on(node());
  mark.pre_existing_cordon = true;
  annotate_node(mark);
  end_alert();

  ASSERT_TRUE(reconcile());

  expect_held("cordoned before; the record does not");
  EXPECT_TRUE(node().unschedulable);
}

// Simulated, seed 8752: gpuward set the taint after the cordon, and wrote an annotation with the
// edited claim about the cordon.
TEST_F(EditedMarks, AreNotMendedByTheTaintThatGoesOnLater) {
  quarantine();
  Json steps = kube_.get(path_of(remediation().name))["status"]["steps"];
  std::erase_if(steps.get_ref<Json::array_t&>(),
                [](const Json& one) { return string_at(one, "name") == "taint"; });
  for (Json& step : steps) step["result"] = "intended";
  edit_status(remediation().name, {{"steps", steps}});
  OwnerAnnotation mark = *owner_annotation_on(node());
  mark.taint = false;
  mark.pre_existing_cordon = true;
  annotate_node(mark);
  edit_node({{"spec", {{"taints", nullptr}}}});

  ASSERT_TRUE(reconcile());
  EXPECT_EQ(our_taint_on(node()), "reboot");
  ASSERT_TRUE(reconcile());

  expect_held("cordoned before; the record does not");
  EXPECT_EQ(remediation().status.pre_existing_cordon, false);
}

TEST_F(EditedMarks, HoldTheNodeIfTheAnnotationSaysLessThanTheRecord) {
  quarantine();
  OwnerAnnotation mark = *owner_annotation_on(node());
  mark.cordon = false;
  annotate_node(mark);
  end_alert();

  ASSERT_TRUE(reconcile());

  expect_held("gpuward cordoned the node; the annotation does not");
  EXPECT_TRUE(node().unschedulable);
}

TEST_F(EditedMarks, HoldTheNodeIfTheAnnotationCannotBeRead) {
  quarantine();
  annotate_node(Json("{}"));
  end_alert();

  ASSERT_TRUE(reconcile());
  expect_held("cannot be read");
  cancel(remediation().name);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  EXPECT_FALSE(node().unschedulable);  // the record counts
}

TEST_F(EditedMarks, TellWhoeverCancelsThatTheCordonStaysBeforeTheRestGoes) {
  quarantine();
  OwnerAnnotation mark = *owner_annotation_on(node());
  mark.pre_existing_cordon = true;
  annotate_node(mark);
  cancel(remediation().name);

  ASSERT_TRUE(reconcile());
  expect_held("cordoned before; the record does not");
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_TRUE(node().unschedulable);
}

TEST_F(EditedMarks, AreToldOfAlsoIfTheReturnWasIntendedBefore) {
  quarantine();
  cancel(remediation().name);
  kube_.add_fault(
      {.kind = fakes::FaultKind::kConflict, .method = "PATCH", .path = "/api/v1/nodes/.*"});
  (void)reconcile(1);
  kube_.clear_faults();
  ASSERT_NE(remediation().status.find(Step::kReturn), nullptr);
  edit_status(remediation().name, {{"preExistingCordon", true}});

  ASSERT_TRUE(reconcile());

  expect_held("cordoned before; the annotation does not");
}

TEST_F(EditedMarks, HoldTheNodeIfTheTaintIsAnother) {
  quarantine();
  const Json taint = {{"key", std::string(kTaintKey)}, {"value", "mine"}, {"effect", "NoSchedule"}};
  edit_node({{"spec", {{"taints", Json::array({taint})}}}});
  end_alert();

  ASSERT_TRUE(reconcile());

  expect_held("the taint on the node has the value mine");
}

TEST_F(EditedMarks, AreToldOfOnceMoreIfTheNodeWasHeldAlready) {
  Policy policy;
  policy.mode = Mode::kFull;
  policy.steps[Severity::kReboot] = {planned(Step::kTaint), planned(Step::kCordon),
                                     planned(Step::kDrain)};
  policy_.set(policy);
  clock_.advance(std::chrono::minutes(15));  // the startup grace is over
  steps_[Step::kDrain].progress->result = StepResult::kFailed;
  ASSERT_TRUE(take({signal()}));
  reports_.answer = report_of(Severity::kReboot);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kHeld);
  const std::size_t told = replica_->announcer.told.size();
  OwnerAnnotation mark = *owner_annotation_on(node());
  mark.name = "gpu-02-1";
  annotate_node(mark);

  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(replica_->announcer.told.size(), told + 1);
}

TEST_F(EditedMarks, GoOnIfSomebodyPutsThemRight) {
  quarantine();
  const OwnerAnnotation right = *owner_annotation_on(node());
  OwnerAnnotation mark = right;
  mark.name = "gpu-02-1";
  annotate_node(mark);
  ASSERT_TRUE(reconcile());
  expect_held("names gpu-02-1");

  annotate_node(right);
  ASSERT_TRUE(reconcile());

  EXPECT_NE(remediation().status.rule, kOwnershipRule);
  EXPECT_NE(remediation().status.phase, Phase::kHeld);
}

}  // namespace
}  // namespace gpuward::remediator
