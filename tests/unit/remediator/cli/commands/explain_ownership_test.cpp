#include <gmock/gmock.h>

#include "remediator/cli/commands/explain.h"
#include "remediator/model/node_mark.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

class ExplainMarks : public ::testing::Test {
 protected:
  ExplainMarks() {
    node_.meta.name = "gpu-01";
    node_.meta.uid = "uid-1";
    remediation_.name = "gpu-01-1";
    remediation_.node_uid = "uid-1";
    remediation_.status.pre_existing_cordon = false;
    for (const Step step : {Step::kTaint, Step::kCordon}) {
      StepRecord& record = remediation_.status.steps.emplace_back();
      record.step = step;
      record.result = StepResult::kDone;
    }
  }
  void mark(const std::string& name) {
    OwnerAnnotation mark;
    mark.name = name;
    mark.severity = Severity::kReboot;
    mark.taint = mark.cordon = true;
    node_.meta.annotations[std::string(kAnnotation)] = to_annotation(mark);
    node_.taints = {{std::string(kTaintKey), "reboot", std::string(kTaintEffect), ""}};
    node_.unschedulable = true;
  }
  std::string said() const { return explain_ownership(node_, {&remediation_, 1}); }

  kube::Node node_;
  Remediation remediation_;
};

TEST_F(ExplainMarks, SayNothingIfNodeAndRecordAgree) {
  mark("gpu-01-1");
  EXPECT_EQ(said(), "");
  EXPECT_EQ(explain_ownership(kube::Node{}, {}), "");
}

TEST_F(ExplainMarks, NameWhatHasNoRecord) {
  mark("gpu-01-1");
  remediation_.status.phase = Phase::kReleased;

  EXPECT_EQ(said(),
            "Node gpu-01 has the taint gpuward.dev/remediation=reboot, the annotation of "
            "gpu-01-1 and a cordon, and no remediation is open for it.\n");
}

TEST_F(ExplainMarks, NameACordonThatAClosedRemediationHasLeft) {
  remediation_.status.phase = Phase::kEnded;
  node_.unschedulable = true;
  EXPECT_THAT(said(), HasSubstr("has a cordon, and no remediation is open"));
  node_.unschedulable = false;
  EXPECT_EQ(said(), "");
}

TEST_F(ExplainMarks, NameWhatTheRecordHasAndTheNodeHasNot) {
  mark("gpu-01-1");
  node_.taints.clear();
  EXPECT_THAT(said(), HasSubstr("gpu-01-1 disagree: manual change: the taint was removed"));
}

TEST_F(ExplainMarks, NameAnAnnotationOfAnother) {
  mark("gpu-02-1");
  EXPECT_THAT(said(), HasSubstr("disagree: the annotation on the node names gpu-02-1"));
}

TEST_F(ExplainMarks, SayNothingOfTheRemediationOfAnEarlierNode) {
  mark("gpu-01-1");
  remediation_.node_uid = "uid-0";
  EXPECT_THAT(said(), HasSubstr("no remediation is open for it"));
}

}  // namespace
}  // namespace gpuward::remediator
