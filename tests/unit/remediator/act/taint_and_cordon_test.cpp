#include "remediator/act/taint_and_cordon.h"

#include <gmock/gmock.h>

#include "remediator/model/node_mark.h"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TaintAndCordonPlan : public ::testing::Test {
 protected:
  TaintAndCordonPlan() {
    remediation_.name = "rem-1";
    remediation_.severity = Severity::kReboot;
    node_.meta.name = "gpu-01";
  }
  PlanRequest request(std::vector<Step> steps = {Step::kTaint, Step::kCordon}) {
    return {.remediation = remediation_, .steps = std::move(steps), .why = "why", .now = {}};
  }
  void mark(const std::string& name, bool foreign_cordon) {
    OwnerAnnotation made;
    made.name = name;
    made.severity = Severity::kReboot;
    made.taint = made.cordon = true;
    made.pre_existing_cordon = foreign_cordon;
    node_.meta.annotations[std::string(kAnnotation)] = to_annotation(made);
    node_.taints = {{std::string(kTaintKey), "reboot", std::string(kTaintEffect), ""}};
    node_.unschedulable = true;
  }

  // Records the steps that mark() shows on the node.
  void record(bool foreign_cordon) {
    for (const Step step : {Step::kTaint, Step::kCordon}) {
      StepRecord done;
      done.step = step;
      done.result = StepResult::kDone;
      remediation_.status.steps.push_back(done);
    }
    remediation_.status.pre_existing_cordon = foreign_cordon;
  }

  Remediation remediation_;
  kube::Node node_;
};

TEST_F(TaintAndCordonPlan, QuarantinePutsEverythingIntoOneChange) {
  const auto plan = plan_quarantine(request(), node_);

  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->change.unschedulable, true);
  ASSERT_THAT(plan->change.set_taints, SizeIs(1));
  EXPECT_EQ(plan->change.set_taints[0].value, "reboot");
  EXPECT_THAT(plan->change.set_annotations, SizeIs(1));
  EXPECT_EQ(plan->pre_existing_cordon, false);
}

TEST_F(TaintAndCordonPlan, QuarantineChangesNothingIfAllStands) {
  mark("rem-1", false);
  record(false);
  EXPECT_FALSE(plan_quarantine(request(), node_));
}

TEST_F(TaintAndCordonPlan, QuarantineWritesAForeignCordonDown) {
  node_.unschedulable = true;

  const auto plan = plan_quarantine(request(), node_);

  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->pre_existing_cordon, true);
  EXPECT_FALSE(plan->change.unschedulable);
}

TEST_F(TaintAndCordonPlan, QuarantineDoesNotTakeOurOwnOldCordonForAForeignOne) {
  mark("rem-1", false);
  record(false);
  remediation_.severity = Severity::kIsolate;

  const auto plan = plan_quarantine(request(), node_);

  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->pre_existing_cordon, false);
}

// The policy no longer has a cordon, and an operator has removed the annotation.
TEST_F(TaintAndCordonPlan, QuarantineKeepsACordonOursByTheRecordIfTheMarkIsGone) {
  mark("rem-1", false);
  record(false);
  node_.meta.annotations.clear();

  const auto plan = plan_quarantine(request({Step::kTaint}), node_);

  ASSERT_TRUE(plan);
  node_.meta.annotations = plan->change.set_annotations;
  EXPECT_TRUE(owner_annotation_on(node_)->cordon);
  EXPECT_EQ(plan_release(request(), node_)->change.unschedulable, false);
}

// The operator who has to decide about the cordon must find the annotation.
TEST_F(TaintAndCordonPlan, QuarantineWritesNothingOverTheAnnotationOfAnother) {
  mark("rem-0", false);
  EXPECT_FALSE(plan_quarantine(request({Step::kTaint}), node_));

  node_.taints.clear();
  PlanRequest tainted = request({Step::kTaint});
  tainted.konduktor_taint = true;
  const auto plan = plan_quarantine(tainted, node_);

  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->change.set_annotations, IsEmpty());
  EXPECT_THAT(plan->change.set_taints, SizeIs(1));
  EXPECT_EQ(plan->pre_existing_cordon, std::nullopt);
}

// A Remediation that was deleted by force leaves its name to the next one of the node.
TEST_F(TaintAndCordonPlan, QuarantineClaimsNoCordonThatWasNeverIntended) {
  mark("rem-1", false);
  node_.taints.clear();

  const auto plan = plan_quarantine(request(), node_);

  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->change.set_annotations, IsEmpty());
  EXPECT_EQ(plan->pre_existing_cordon, std::nullopt);
}

TEST_F(TaintAndCordonPlan, QuarantineKeepsAForeignCordonForeignThatWasOnlyIntended) {
  mark("rem-1", true);
  node_.taints.clear();
  record(true);
  for (StepRecord& step : remediation_.status.steps) step.result = StepResult::kIntended;

  EXPECT_EQ(plan_quarantine(request(), node_)->pre_existing_cordon, true);
}

TEST_F(TaintAndCordonPlan, QuarantineCordonsOnlyIfThatIsAStep) {
  const auto plan = plan_quarantine(request({Step::kTaint}), node_);

  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->change.unschedulable);
}

TEST_F(TaintAndCordonPlan, ReleaseTakesOffWhatIsOurs) {
  mark("rem-1", false);
  record(false);

  const auto plan = plan_release(request(), node_);

  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->change.unschedulable, false);
  EXPECT_THAT(plan->change.remove_taints, SizeIs(1));
  EXPECT_THAT(plan->change.remove_annotations, ElementsAre(std::string(kAnnotation)));
}

TEST_F(TaintAndCordonPlan, ReleaseLeavesAForeignCordon) {
  mark("rem-1", true);
  record(true);
  EXPECT_FALSE(plan_release(request(), node_)->change.unschedulable);
}

TEST_F(TaintAndCordonPlan, ReleaseBelievesTheRemediationBeforeTheMarkThatTheNodeCanWrite) {
  mark("rem-1", false);
  record(true);

  const auto plan = plan_release(request(), node_);

  EXPECT_FALSE(plan->change.unschedulable);
  EXPECT_FALSE(plan->pre_existing_cordon);
}

TEST_F(TaintAndCordonPlan, QuarantineLeavesAnAnnotationThatDiffersFromTheRecord) {
  mark("rem-1", false);
  record(true);
  remediation_.severity = Severity::kIsolate;

  const auto plan = plan_quarantine(request({Step::kTaint}), node_);

  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->change.set_annotations, IsEmpty());
  EXPECT_EQ(plan->pre_existing_cordon, std::nullopt);
}

TEST_F(TaintAndCordonPlan, ReleaseDoesNotUncordonIfTheMarkIsGoneAndNothingIsRecorded) {
  mark("rem-1", false);
  node_.meta.annotations.clear();

  const auto plan = plan_release(request(), node_);

  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->change.unschedulable);
  EXPECT_THAT(plan->change.remove_taints, SizeIs(1));
}

TEST_F(TaintAndCordonPlan, ReleaseUncordonsByTheRecordIfTheMarkIsGone) {
  mark("rem-1", false);
  record(false);
  node_.meta.annotations.clear();

  const auto plan = plan_release(request(), node_);

  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->change.unschedulable, false);
  EXPECT_THAT(plan->change.remove_taints, SizeIs(1));
}

TEST_F(TaintAndCordonPlan, ReleaseDoesNotUncordonOnTheWordOfTheMarkAlone) {
  mark("rem-1", false);
  EXPECT_FALSE(plan_release(request(), node_)->change.unschedulable);
}

TEST_F(TaintAndCordonPlan, ReleaseLeavesTheCordonOfAnotherRemediation) {
  mark("rem-2", false);
  record(false);

  const auto plan = plan_release(request(), node_);

  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->change.unschedulable);
  EXPECT_THAT(plan->change.remove_annotations, ElementsAre(std::string(kAnnotation)));
}

TEST_F(TaintAndCordonPlan, ReleaseHasNothingToDoOnACleanNode) {
  EXPECT_FALSE(plan_release(request(), node_));
}

}  // namespace
}  // namespace gpuward::remediator
