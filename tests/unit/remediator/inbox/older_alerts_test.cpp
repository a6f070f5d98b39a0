// Another machine under a name for which Prometheus still has an alert.
#include "remediator/inbox/older_alerts.h"

#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::SizeIs;

class AlertOfTheMachineBefore : public ClusterTest {
 protected:
  // The Node was registered a minute after the alert began.
  void SetUp() override {
    fires_ = signal(Severity::kReset);
    clock_.advance(minutes(1));
    kube_.remove("/api/v1/nodes/gpu-01");
    add_node("gpu-01");
    clock_.advance(minutes(1));
  }

  IntakeCounts hear(HealthReports* reports) {
    OlderAlerts older(replica_->intake, replica_->view, reports, policy_, clock_);
    const auto counts = older.take(std::vector{fires_}, clock_.steady() + seconds(1));
    EXPECT_TRUE(counts);
    return counts.value_or(IntakeCounts{});
  }
  void expect_ignored() {
    EXPECT_EQ(hear(&reports_).ignored, 1U);
    EXPECT_THAT(remediations(), SizeIs(0));
  }

  AlertSignal fires_;
};

TEST_F(AlertOfTheMachineBefore, IsTakenInIfTheMachineThatHasTheNameNowIsAsSick) {
  reports_.answer = report_of(Severity::kReset);

  EXPECT_EQ(hear(&reports_).accepted, 1U);
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(our_taint_on(node()), "reset");
}

// An announcement of a cloud is such an alert: the machine itself has read it.
TEST_F(AlertOfTheMachineBefore, IsTakenInIfItsSourceKnowsThatItIsOfThisMachine) {
  reports_.answer = report_of(Severity::kNone);
  fires_.is_of_this_machine = true;

  EXPECT_EQ(hear(&reports_).accepted, 1U);
}

TEST_F(AlertOfTheMachineBefore, IsTakenInOnce) {
  reports_.answer = report_of(Severity::kIsolate);

  EXPECT_EQ(hear(&reports_).accepted, 1U);
  catch_up(*replica_);

  EXPECT_EQ(hear(&reports_).duplicate, 1U);
  EXPECT_THAT(remediations(), SizeIs(1));
}

TEST_F(AlertOfTheMachineBefore, EndsWhatWasOpenedForThisOne) {
  reports_.answer = report_of(Severity::kReset);
  EXPECT_EQ(hear(&reports_).accepted, 1U);
  catch_up(*replica_);

  fires_.firing = false;
  fires_.ends_at = clock_.wall();

  EXPECT_EQ(hear(&reports_).accepted, 1U);
  EXPECT_FALSE(remediation().alerts.front().firing());
}

TEST_F(AlertOfTheMachineBefore, IsIgnoredIfThisMachineIsBetter) {
  reports_.answer = report_of(Severity::kMonitor);
  expect_ignored();
}

TEST_F(AlertOfTheMachineBefore, IsIgnoredIfTheReportIsOfAnotherBoot) {
  reports_.answer = report_of(Severity::kReset, "boot-of-the-machine-before");
  expect_ignored();
}

TEST_F(AlertOfTheMachineBefore, IsIgnoredIfTheReportIsOld) {
  reports_.answer = report_of(Severity::kReset);
  reports_.answer->measured_at -= minutes(10);
  expect_ignored();
}

TEST_F(AlertOfTheMachineBefore, IsIgnoredIfNothingIsKnownOfThisMachine) {
  expect_ignored();
  EXPECT_EQ(hear(nullptr).ignored, 1U);
}

TEST_F(AlertOfTheMachineBefore, CostsNoQuestionIfItIsYoungerThanTheNode) {
  class NeverAsked final : public HealthReports {
   public:
    Result<HealthReport> latest(std::string_view) override {
      ADD_FAILURE() << "asked";
      return fail(ErrorKind::kNotFound, "");
    }
  } reports;
  fires_.starts_at = clock_.wall();

  EXPECT_EQ(hear(&reports).accepted, 1U);
}

}  // namespace
}  // namespace gpuward::remediator
