// A language model's advice about a log line, through the whole reconciler: it leads to a cordon at
// most, and never lowers a known severity.
#include "remediator/inbox/sources/triage_source.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

class TriageAdviceTest : public ClusterTest {
 protected:
  TriageAdviceTest() {
    clock_.advance(std::chrono::minutes(15));  // the startup grace is over
    Policy policy;
    policy.mode = Mode::kFull;
    for (const Severity severity : {Severity::kReset, Severity::kReboot}) {
      policy.steps[severity] = {planned(Step::kTaint), planned(Step::kCordon),
                                planned(Step::kDrain), planned(Step::kReboot)};
    }
    policy_.set(policy);
  }
  void advise(AdvisedSeverity severity) {
    const AlertSignal advice = signal_of_finding({.node = "gpu-01",
                                                  .error_class = "XID_CRITICAL_79",
                                                  .severity = severity,
                                                  .at = clock_.wall()});
    ASSERT_TRUE(take({advice}));
    ASSERT_TRUE(reconcile());
  }
};

TEST_F(TriageAdviceTest, EndsAtTheCordonHoweverBadItIs) {
  advise(AdvisedSeverity::kReset);
  EXPECT_EQ(our_taint_on(node("gpu-01")), "reset");
  EXPECT_TRUE(node("gpu-01").unschedulable);

  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.rule, "guard.evidence");
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
}

TEST_F(TriageAdviceTest, IsOnlyRecordedAtSeverityMonitor) {
  advise(AdvisedSeverity::kMonitor);

  EXPECT_EQ(remediation().severity, Severity::kMonitor);
  EXPECT_FALSE(our_taint_on(node("gpu-01")));
  EXPECT_FALSE(node("gpu-01").unschedulable);
}

TEST_F(TriageAdviceTest, LowersNothing) {
  ASSERT_TRUE(take({signal()}));

  advise(AdvisedSeverity::kMonitor);

  EXPECT_EQ(remediation().severity, Severity::kReboot);
}

}  // namespace
}  // namespace gpuward::remediator
