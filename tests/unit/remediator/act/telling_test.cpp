// gpuward notifies an operator at least once if a remediation cannot continue without one, even if
// messages are lost or processes die.
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using fakes::FaultKind;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kAnyStatus = "/apis/gpuward.dev/v1alpha1/remediations/.*/status";

class TellingTest : public ClusterTest {
 protected:
  TellingTest() { quarantine(); }
  void quarantine() {
    ASSERT_TRUE(take({signal()}));
    ASSERT_TRUE(reconcile());
    expect_quarantined();
  }
  void uncordon() { kube_.patch("/api/v1/nodes/gpu-01", {{"spec", {{"unschedulable", nullptr}}}}); }
  // The Event fails, the status write succeeds, its answer is lost, and the process ends.
  void lose_the_pause() {
    uncordon();
    replica_->announcer.telling = fail(ErrorKind::kUnavailable, "no Events today");
    kube_.add_fault({.kind = FaultKind::kDropAfter, .method = "PUT", .path = kAnyStatus});
    ASSERT_FALSE(reconcile(1));
    ASSERT_EQ(remediation().status.phase, Phase::kPaused);
    ASSERT_THAT(replica_->announcer.told, IsEmpty());
    restart();
  }
};

TEST_F(TellingTest, IsDoneOnce) {
  uncordon();

  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  ASSERT_THAT(replica_->announcer.told, SizeIs(1));
  EXPECT_EQ(replica_->announcer.told[0].reason, "GpuwardPaused");
  EXPECT_THAT(replica_->announcer.told[0].message, HasSubstr(remediation().name + ": "));
  restart();
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(replica_->announcer.told, IsEmpty());
}

TEST_F(TellingTest, IsDoneByTheNextProcessIfTheAnswerWasLost) {
  lose_the_pause();

  ASSERT_TRUE(reconcile());

  EXPECT_THAT(replica_->announcer.told, SizeIs(1));
  EXPECT_EQ(remediation().status.notified_phase, Phase::kPaused);
}

TEST_F(TellingTest, IsNotRepeatedIfOnlyTheAnswerWasLostThatItIsWrittenDown) {
  uncordon();
  kube_.add_fault({.kind = FaultKind::kDropAfter, .method = "PUT", .path = kAnyStatus});
  EXPECT_FALSE(reconcile(1));
  ASSERT_THAT(replica_->announcer.told, SizeIs(1));
  restart();

  ASSERT_TRUE(reconcile());

  EXPECT_THAT(replica_->announcer.told, IsEmpty());
  EXPECT_EQ(remediation().status.notified_phase, Phase::kPaused);
}

TEST_F(TellingTest, IsRepeatedIfItWentWrong) {
  uncordon();
  replica_->announcer.telling = fail(ErrorKind::kUnavailable, "no Events today");

  EXPECT_FALSE(reconcile(1));
  EXPECT_FALSE(remediation().status.notified_phase);
  replica_->announcer.telling = {};
  ASSERT_TRUE(reconcile());

  EXPECT_THAT(replica_->announcer.told, SizeIs(1));
}

TEST_F(TellingTest, IsRepeatedIfItIsNotWrittenDown) {
  uncordon();
  kube_.add_fault({.kind = FaultKind::kDropBefore, .method = "PUT", .path = kAnyStatus});
  EXPECT_FALSE(reconcile(1));
  ASSERT_THAT(replica_->announcer.told, SizeIs(1));
  restart();

  ASSERT_TRUE(reconcile());

  EXPECT_THAT(replica_->announcer.told, SizeIs(1));
}

TEST_F(TellingTest, IsDoneAnewIfItComesToThatAgain) {
  const std::string path = remediation_collection() + "/" + remediation().name;
  const auto pause = [&](const Json& value) {
    kube_.patch(path, {{"metadata", {{"annotations", {{"gpuward.dev/pause", value}}}}}});
    ASSERT_TRUE(reconcile());
  };
  pause("true");
  pause(nullptr);
  EXPECT_FALSE(remediation().status.notified_phase);

  pause("true");

  EXPECT_THAT(replica_->announcer.told, SizeIs(2));
}

}  // namespace
}  // namespace gpuward::remediator
