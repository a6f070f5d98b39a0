#include "remediator/model/ownership.h"

#include <gmock/gmock.h>

#include "core/kube/node_names.h"
#include "remediator/model/node_mark.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

// A node that was tainted and cordoned for "rem-1", and its record.
class Ownership : public ::testing::Test {
 protected:
  Ownership() {
    remediation_.name = "rem-1";
    remediation_.severity = Severity::kReboot;
    remediation_.status.pre_existing_cordon = false;
    for (const Step step : {Step::kTaint, Step::kCordon}) record(step).result = StepResult::kDone;
    node_.meta.name = "gpu-01";
    node_.unschedulable = true;
    set_taint("reboot");
    mark_.name = "rem-1";
    mark_.severity = Severity::kReboot;
    mark_.taint = mark_.cordon = true;
    annotate();
  }
  StepRecord& record(Step step) {
    for (StepRecord& known : remediation_.status.steps) {
      if (known.step == step) return known;
    }
    StepRecord& added = remediation_.status.steps.emplace_back();
    added.step = step;
    return added;
  }
  void annotate() { node_.meta.annotations[std::string(kAnnotation)] = to_annotation(mark_); }
  void lose_annotation() { node_.meta.annotations.clear(); }
  void set_taint(const std::string& value) {
    node_.taints = {{std::string(kTaintKey), value, std::string(kTaintEffect), ""}};
  }
  std::string said() const { return disagreement(remediation_, node_).value_or("nothing"); }

  Remediation remediation_;
  kube::Node node_;
  OwnerAnnotation mark_;
};

TEST_F(Ownership, IsPlainIfRecordAndNodeSayTheSame) {
  EXPECT_EQ(said(), "nothing");
  EXPECT_TRUE(is_own_cordon(remediation_, node_));
}

TEST_F(Ownership, OfTheCordonIsKnownFromTheRecordIfTheAnnotationIsLost) {
  lose_annotation();

  EXPECT_TRUE(is_own_cordon(remediation_, node_));
  EXPECT_EQ(said(), "nothing");
}

// Simulated, seed 160051: gpuward took the cordon for another program's and left it without a
// message.
TEST_F(Ownership, OfACordonIsUnknownIfAllElseIsTakenOffBeforeItIsRecorded) {
  for (const Step step : {Step::kTaint, Step::kCordon}) record(step).result = StepResult::kIntended;
  lose_annotation();
  EXPECT_TRUE(has_unclear_cordon(remediation_, node_));
  node_.taints.clear();

  EXPECT_TRUE(has_unclear_cordon(remediation_, node_));
  EXPECT_THAT(said(), HasSubstr("whether the cordon is gpuward's"));
  mark_.cordon = false;
  annotate();
  set_taint("reboot");
  EXPECT_THAT(said(), HasSubstr("whether the cordon is gpuward's"))
      << "tainted since, and as unclear as before";
  mark_.cordon = true;
  annotate();
  EXPECT_EQ(said(), "nothing");
  lose_annotation();
  node_.taints.clear();
  node_.unschedulable = false;
  EXPECT_EQ(said(), "nothing");
}

TEST_F(Ownership, OfACordonThatWasThereBeforeIsNeverOurs) {
  remediation_.status.pre_existing_cordon = true;
  EXPECT_FALSE(is_own_cordon(remediation_, node_));
  lose_annotation();
  EXPECT_FALSE(is_own_cordon(remediation_, node_));
  remediation_.status.pre_existing_cordon = false;
  mark_.pre_existing_cordon = true;
  annotate();
  EXPECT_FALSE(is_own_cordon(remediation_, node_));
}

TEST_F(Ownership, IsNotProvenByAnAnnotationWithoutARecord) {
  remediation_.status = {};
  EXPECT_FALSE(is_own_cordon(remediation_, node_));
  EXPECT_THAT(said(), HasSubstr("gpuward tainted the node; the record does not"));
}

TEST_F(Ownership, IsNotProvenByTheAnnotationOfAnother) {
  mark_.name = "rem-0";
  annotate();
  EXPECT_FALSE(is_own_cordon(remediation_, node_));
  EXPECT_THAT(said(), HasSubstr("names rem-0"));
}

TEST_F(Ownership, IsInDoubtIfBothSayAnotherThingOfTheCordon) {
  mark_.pre_existing_cordon = true;
  annotate();
  EXPECT_THAT(said(), HasSubstr("cordoned before; the record does not"));
  mark_.pre_existing_cordon = false;
  remediation_.status.pre_existing_cordon = true;
  annotate();
  EXPECT_THAT(said(), HasSubstr("cordoned before; the annotation does not"));
}

TEST_F(Ownership, IsInDoubtIfTheTaintIsAnother) {
  set_taint("isolate");
  EXPECT_THAT(said(), HasSubstr("the taint on the node has the value isolate"));
  lose_annotation();
  EXPECT_EQ(said(), "nothing");
  set_taint("mine");
  EXPECT_THAT(said(), HasSubstr("the taint on the node has the value mine"));
}

TEST_F(Ownership, IsInDoubtIfTheRecordKnowsOfNoTaint) {
  lose_annotation();
  remediation_.status.steps.clear();
  EXPECT_THAT(said(), HasSubstr("the record has none"));
}

TEST_F(Ownership, IsInDoubtIfACordonWasOnlyIntendedAndTheAnnotationIsLost) {
  record(Step::kCordon).result = StepResult::kIntended;
  EXPECT_EQ(said(), "nothing");
  lose_annotation();
  EXPECT_THAT(said(), HasSubstr("whether the cordon is gpuward's"));
  EXPECT_FALSE(is_own_cordon(remediation_, node_));
}

TEST_F(Ownership, OfACordonAfterAReturnIsNotOurs) {
  record(Step::kReturn);
  EXPECT_TRUE(is_own_cordon(remediation_, node_));  // the return is not carried out yet
  lose_annotation();
  EXPECT_TRUE(is_own_cordon(remediation_, node_));  // nor here: the taint is still there
  node_.taints.clear();
  EXPECT_FALSE(is_own_cordon(remediation_, node_));
}

TEST_F(Ownership, KnowsACordonThatAClosedRemediationHasLeft) {
  std::vector<Remediation> records(3, remediation_);
  records[1].name = "rem-3";  // closed before it did anything
  records[1].status = {};
  records[2].node_uid = "of-another";
  for (Remediation& one : records) one.status.phase = Phase::kEnded;
  ASSERT_NE(left_cordon(records, node_), nullptr);
  EXPECT_EQ(left_cordon(records, node_)->name, "rem-1");

  records[1].status.pre_existing_cordon = true;  // this record knows more
  EXPECT_EQ(left_cordon(records, node_), nullptr);
  records[1].status.pre_existing_cordon.reset();
  records[0].status.phase = Phase::kQuarantined;
  EXPECT_EQ(left_cordon(records, node_), nullptr);
  record(Step::kReturn);
  remediation_.status.phase = Phase::kReleased;
  EXPECT_EQ(left_cordon({&remediation_, 1}, node_), nullptr);
}

TEST_F(Ownership, SaysWhatIsOnTheNode) {
  EXPECT_EQ(ownership_text(node_),
            "the taint gpuward.dev/remediation=reboot, the annotation of rem-1 and a cordon");
  EXPECT_EQ(ownership_text(kube::Node{}), "nothing");
  lose_annotation();
  node_.meta.annotations[std::string(kAnnotation)] = "{}";
  node_.taints.clear();
  EXPECT_EQ(ownership_text(node_), "an unreadable annotation and a cordon");
  EXPECT_TRUE(has_our_taint_or_annotation(node_));
}

// Both write keys under gpuward.dev/.
TEST(OwnershipAnnotation, AndTaintHaveNoNameOfTheExporters) {
  kube::Node node;
  for (const NodeNames& names : kAllNodeNames) {
    for (const NodeNameEntry& entry : kNodeNames) {
      for (const std::string_view key :
           {kTaintKey, kAnnotation, std::string_view("gpuward.dev/managed")})
        EXPECT_FALSE(names.is(key, entry.name)) << key;
      node.taints.push_back({names(entry.name), "true", std::string(kTaintEffect), ""});
      node.meta.annotations.emplace(names(entry.name), "{}");
    }
  }
  EXPECT_FALSE(has_our_taint_or_annotation(node));
  EXPECT_FALSE(our_taint_on(node));
}

}  // namespace
}  // namespace gpuward::remediator
