// Konduktor's taint beside gpuward's, on nodes that the logs name.
#include "remediator/policy/konduktor_taint.h"

#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

class KonduktorTaintTest : public ClusterTest {
 protected:
  KonduktorTaintTest() { set_policy(true); }
  void set_policy(bool wants) {
    Policy policy;
    policy.mode = Mode::kCordon;
    policy.loki.konduktor_taint = wants;
    policy_.set(policy);
  }
  AlertSignal from_loki(bool firing = true) {
    AlertSignal line = signal();
    line.fingerprint = "loki.0123456789";
    line.foreign = true;
    line.firing = firing;
    line.ends_at = clock_.wall();
    return line;
  }
  void take_one(const AlertSignal& one) {
    ASSERT_TRUE(take({one}));
    ASSERT_TRUE(reconcile());
  }
  bool is_faulty() {
    return std::ranges::any_of(node("gpu-01").taints, [](const kube::Taint& taint) {
      return taint.key == "trainy.konduktor.ai/faulty" && taint.value == "true" &&
             taint.effect == "NoSchedule";
    });
  }
  void taint_by_another() {
    kube_.patch("/api/v1/nodes/gpu-01",
                {{"spec",
                  {{"taints", Json::array({{{"key", std::string(kKonduktorTaintKey)},
                                            {"value", "true"},
                                            {"effect", "NoSchedule"}}})}}}});
  }
  void cancel() {
    kube_.patch("/apis/gpuward.dev/v1alpha1/remediations/" + remediation().name,
                {{"metadata", {{"annotations", {{std::string(kCancelAnnotation), "true"}}}}}});
    ASSERT_TRUE(reconcile());
  }
};

TEST_F(KonduktorTaintTest, GoesOnWithOursInOnePatchAndOffWithIt) {
  take_one(from_loki());
  EXPECT_TRUE(is_faulty());
  EXPECT_TRUE(our_taint_on(node("gpu-01")));
  EXPECT_EQ(kube_.requests("PATCH", "/api/v1/nodes/gpu-01").size(), 1U);

  cancel();

  EXPECT_FALSE(is_faulty());
  EXPECT_FALSE(our_taint_on(node("gpu-01")));
}

// Konduktor: a health check that removes the taint.
TEST_F(KonduktorTaintTest, GoesWhenTheNodeHasPassedItsTest) {
  Policy policy;
  policy.mode = Mode::kFull;
  policy.loki.konduktor_taint = true;
  policy.steps[Severity::kReboot] = {planned(Step::kTaint),    planned(Step::kCordon),
                                     planned(Step::kDrain),    planned(Step::kReboot),
                                     planned(Step::kNcclTest), planned(Step::kVerify),
                                     planned(Step::kReturn)};
  policy_.set(policy);
  clock_.advance(std::chrono::minutes(15));  // the startup grace is over
  reports_.answer = report_of(Severity::kReboot);
  for (const Step step : {Step::kDrain, Step::kReboot}) end(step);
  take_one(from_loki());
  for (int looks = 0; looks < 6 && steps_[Step::kNcclTest].begun == 0; ++looks)
    ASSERT_TRUE(reconcile());
  ASSERT_EQ(steps_[Step::kNcclTest].begun, 1);
  EXPECT_TRUE(is_faulty()) << "the test still runs";

  end(Step::kNcclTest);
  end(Step::kVerify);
  take_one(from_loki(false));
  clock_.advance(std::chrono::seconds(1));
  reports_.answer = report_of(Severity::kNone);
  for (int looks = 0; looks < 4; ++looks) ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReleased) << remediation().status.message;
  EXPECT_FALSE(is_faulty());
  EXPECT_FALSE(our_taint_on(node("gpu-01")));
}

TEST_F(KonduktorTaintTest, GoesOnOnceTheLogsSpeakOfANodeThatIsOursAlready) {
  take_one(signal());
  EXPECT_FALSE(is_faulty());

  take_one(from_loki());

  EXPECT_TRUE(is_faulty());
}

TEST_F(KonduktorTaintTest, IsNotWrittenUnlessThePolicySaysSo) {
  set_policy(false);

  take_one(from_loki());

  EXPECT_FALSE(is_faulty());
  EXPECT_TRUE(our_taint_on(node("gpu-01")));
}

TEST_F(KonduktorTaintTest, StaysIfAnotherHandHasPutItOn) {
  taint_by_another();
  take_one(from_loki());
  EXPECT_TRUE(our_taint_on(node("gpu-01")));

  cancel();

  EXPECT_TRUE(is_faulty());
  EXPECT_FALSE(our_taint_on(node("gpu-01")));
}

TEST_F(KonduktorTaintTest, IsNotWrittenAgainIfAHumanHasTakenItOff) {
  take_one(from_loki());
  kube_.patch("/api/v1/nodes/gpu-01",
              {{"spec",
                {{"taints", Json::array({{{"key", std::string(kTaintKey)},
                                          {"value", *our_taint_on(node("gpu-01"))},
                                          {"effect", "NoSchedule"}}})}}}});
  ASSERT_FALSE(is_faulty());

  ASSERT_TRUE(reconcile());

  EXPECT_FALSE(is_faulty());
}

}  // namespace
}  // namespace gpuward::remediator
