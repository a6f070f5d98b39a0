// An alert of foreign rules is enough for the cordon. A disruptive step needs the exporter's own
// report.
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::Contains;
using ::testing::HasSubstr;

class ForeignAlertsTest : public ClusterTest {
 protected:
  ForeignAlertsTest() {
    clock_.advance(minutes(15));  // the startup grace is over
    Policy policy;
    policy.mode = Mode::kFull;
    policy.steps[Severity::kReboot] = {planned(Step::kTaint), planned(Step::kCordon),
                                       planned(Step::kDrain)};
    policy_.set(policy);
  }
  void take_foreign() {
    AlertSignal foreign = signal();
    foreign.foreign = true;
    ASSERT_TRUE(take({foreign}));
    ASSERT_TRUE(reconcile());
    expect_quarantined();
  }
  void report(Severity severity) { reports_.answer = report_of(severity); }
};

TEST_F(ForeignAlertsTest, EndAtTheCordonWithoutAReportThatSaysTheSame) {
  take_foreign();
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.rule, "guard.evidence");

  report(Severity::kReset);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.rule, "guard.evidence");
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
  EXPECT_THAT(remediation().status.reasons, Contains(HasSubstr("foreign alert GpuNodeBad fires")));
}

TEST_F(ForeignAlertsTest, GoOnIfTheReportSaysTheSame) {
  take_foreign();
  report(Severity::kReboot);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

}  // namespace
}  // namespace gpuward::remediator
