// Two open Remediations for one node: an operator deleted one while two replicas recorded its
// alerts.
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class OnePerNodeTest : public ClusterTest {
 protected:
  static std::string path_of(const std::string& name) {
    return remediation_collection() + "/" + name;
  }

  // The first was closed. One replica knows that it was deleted since, the other does not: each
  // opens the next one by its own view. The older is `first_`, and acts.
  void open_two() {
    ASSERT_TRUE(take({signal()}));
    ASSERT_TRUE(reconcile());
    const std::string closed = remediation().name;
    kube_.patch_status(path_of(closed), {{"status", {{"phase", "Ended"}}}});
    kube_.patch("/api/v1/nodes/gpu-01",
                {{"metadata", {{"annotations", {{std::string(kAnnotation), nullptr}}}}},
                 {"spec", {{"taints", nullptr}, {"unschedulable", nullptr}}}});
    catch_up(*replica_);
    const auto late = make_replica();
    catch_up(*late);
    kube_.patch(path_of(closed), {{"metadata", {{"finalizers", nullptr}}}});
    kube_.remove(path_of(closed));
    restart();
    clock_.advance(minutes(6));
    std::vector<AlertSignal> fires = {signal()};
    ASSERT_TRUE(take(fires));
    first_ = remediation().name;
    clock_.advance(seconds(2));
    ASSERT_TRUE(late->intake.take(fires, clock_.steady() + seconds(1)));
    catch_up(*replica_);
    for (const Remediation& one : remediations()) {
      if (one.name != first_) second_ = one.name;
    }
    ASSERT_THAT(remediations(), SizeIs(2));
  }

  Remediation read(const std::string& name) {
    return *parse_remediation(dump_json(kube_.get(path_of(name))));
  }

  std::string first_, second_;
};

TEST_F(OnePerNodeTest, TheOlderActsAndTheOtherWaits) {
  open_two();

  ASSERT_TRUE(reconcile());
  catch_up(*replica_);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(owner_annotation_on(node())->name, first_);
  EXPECT_EQ(read(first_).status.phase, Phase::kQuarantined);
  EXPECT_EQ(read(second_).status.phase, Phase::kWaiting);
  EXPECT_EQ(read(second_).status.rule, "guard.one-per-node");
  EXPECT_THAT(read(second_).status.message, HasSubstr(first_));
}

TEST_F(OnePerNodeTest, TheOneThatTheAnnotationNamesActs) {
  open_two();
  ASSERT_TRUE(reconcile());
  auto mark = *owner_annotation_on(node());
  mark.name = second_;
  kube_.patch("/api/v1/nodes/gpu-01",
              {{"metadata", {{"annotations", {{std::string(kAnnotation), to_annotation(mark)}}}}}});
  catch_up(*replica_);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(read(first_).status.rule, "guard.one-per-node");
  EXPECT_NE(read(second_).status.rule, "guard.one-per-node");
}

TEST_F(OnePerNodeTest, CancellingTheOneThatWaitsTakesNothingOffTheNode) {
  open_two();
  ASSERT_TRUE(reconcile());
  kube_.patch(path_of(second_),
              {{"metadata", {{"annotations", {{std::string(kCancelAnnotation), "true"}}}}}});
  catch_up(*replica_);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(read(second_).status.phase, Phase::kCancelled);
  EXPECT_EQ(owner_annotation_on(node())->name, first_);
  EXPECT_TRUE(node().unschedulable);
  EXPECT_TRUE(our_taint_on(node()));
}

// Simulated, seed 33477: a dead watch had not delivered the first one, and the cancelled one
// removed its taint and cordon.
TEST_F(OnePerNodeTest, CancellingTheOneThatWaitsTakesNothingOffThoughTheFirstIsNotInView) {
  open_two();
  ASSERT_TRUE(reconcile());
  kube_.patch(path_of(second_),
              {{"metadata", {{"annotations", {{std::string(kCancelAnnotation), "true"}}}}}});
  replica_->view.remove_remediation(first_);
  replica_->view.put_remediation(read(second_));

  ASSERT_TRUE(replica_->reconciler.reconcile("gpu-01"));

  EXPECT_EQ(read(second_).status.phase, Phase::kCancelled);
  EXPECT_THAT(read(second_).status.message, HasSubstr(first_));
  EXPECT_EQ(owner_annotation_on(node())->name, first_);
  EXPECT_TRUE(node().unschedulable);
  EXPECT_TRUE(our_taint_on(node()));
}

// The Node was created again while the record of the earlier one cannot be closed.
TEST_F(OnePerNodeTest, ARecordThatCannotBeClosedHidesNoOtherOfItsNode) {
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());
  first_ = remediation().name;
  kube_.remove("/api/v1/nodes/gpu-01");
  add_node("gpu-01");
  clock_.advance(minutes(1));
  ASSERT_TRUE(take({signal()}));
  catch_up(*replica_);
  kube_.add_fault({.kind = fakes::FaultKind::kUnavailable,
                   .method = "PUT",
                   .path = path_of(first_) + "/status",
                   .times = -1});

  EXPECT_FALSE(replica_->reconciler.reconcile("gpu-01"));

  EXPECT_TRUE(our_taint_on(node()));
  EXPECT_TRUE(node().unschedulable);
}

TEST_F(OnePerNodeTest, ARecordThatFailsIsTriedAgainAtItsOwnTime) {
  open_two();
  ASSERT_TRUE(reconcile());
  kube_.patch(path_of(second_),
              {{"metadata", {{"annotations", {{std::string(kCancelAnnotation), "true"}}}}}});
  catch_up(*replica_);
  kube_.add_fault({.kind = fakes::FaultKind::kForbidden,
                   .method = "PUT",
                   .path = path_of(second_) + "/status",
                   .times = -1});
  RetryTimes retries(clock_, 1);
  const auto look = replica_->reconciler.reconcile("gpu-01", &retries);
  ASSERT_THAT(look.errors, SizeIs(1));
  ASSERT_TRUE(look.look_again);
  const auto tries = [&] { return kube_.requests("PUT", path_of(second_)).size(); };
  const std::size_t before = tries();

  clock_.advance(minutes(4));
  EXPECT_TRUE(replica_->reconciler.reconcile("gpu-01", &retries));
  EXPECT_EQ(tries(), before);

  clock_.advance(minutes(2));
  EXPECT_FALSE(replica_->reconciler.reconcile("gpu-01", &retries));
  EXPECT_GT(tries(), before);
}

// The slow round covers an operator's repair of RBAC, and lost events.
TEST_F(OnePerNodeTest, ARecordThatFailedIsTriedInTheSlowRound) {
  open_two();
  ASSERT_TRUE(reconcile());
  kube_.patch(path_of(second_),
              {{"metadata", {{"annotations", {{std::string(kCancelAnnotation), "true"}}}}}});
  catch_up(*replica_);
  kube_.add_fault({.kind = fakes::FaultKind::kForbidden,
                   .method = "PUT",
                   .path = path_of(second_) + "/status",
                   .times = 1});
  RetryTimes retries(clock_, 1);
  ASSERT_FALSE(replica_->reconciler.reconcile("gpu-01", &retries));
  ASSERT_TRUE(
      retries.wait_of("gpu-01", second_, versions_known(replica_->view, second_, "gpu-01")));

  retries.allow_all();
  EXPECT_TRUE(replica_->reconciler.reconcile("gpu-01", &retries));

  EXPECT_EQ(read(second_).status.phase, Phase::kCancelled);
}

TEST_F(OnePerNodeTest, NothingIsRememberedOfARecordThatFailedAndIsGone) {
  open_two();
  ASSERT_TRUE(reconcile());
  RetryTimes retries(clock_, 1);
  const KnownVersions seen{.remediation = "1", .node = "1"};
  (void)retries.note_failure("gpu-01", "gone", seen, ErrorKind::kForbidden);
  ASSERT_TRUE(retries.wait_of("gpu-01", "gone", seen));

  (void)replica_->reconciler.reconcile("gpu-01", &retries);

  EXPECT_FALSE(retries.wait_of("gpu-01", "gone", seen));
}

TEST_F(OnePerNodeTest, ARecordThatFailedIsTriedAtOnceWhenItChanges) {
  open_two();
  ASSERT_TRUE(reconcile());
  kube_.patch(path_of(second_),
              {{"metadata", {{"annotations", {{std::string(kCancelAnnotation), "true"}}}}}});
  catch_up(*replica_);
  kube_.add_fault({.kind = fakes::FaultKind::kForbidden,
                   .method = "PUT",
                   .path = path_of(second_) + "/status",
                   .times = 1});
  RetryTimes retries(clock_, 1);
  ASSERT_FALSE(replica_->reconciler.reconcile("gpu-01", &retries));
  kube_.patch(path_of(second_), {{"metadata", {{"labels", {{"touched", "true"}}}}}});
  catch_up(*replica_);

  EXPECT_TRUE(replica_->reconciler.reconcile("gpu-01", &retries));

  EXPECT_EQ(read(second_).status.phase, Phase::kCancelled);
}

TEST_F(OnePerNodeTest, BothHearThatAnAlertHasEnded) {
  open_two();
  clock_.advance(minutes(1));

  ASSERT_TRUE(take({signal(Severity::kReboot, false)}));

  EXPECT_FALSE(read(first_).any_firing());
  EXPECT_FALSE(read(second_).any_firing());
}

TEST_F(OnePerNodeTest, TheOtherActsOnceTheFirstIsClosed) {
  open_two();
  ASSERT_TRUE(reconcile());
  kube_.patch(path_of(first_),
              {{"metadata", {{"annotations", {{std::string(kCancelAnnotation), "true"}}}}}});
  catch_up(*replica_);

  ASSERT_TRUE(reconcile());
  catch_up(*replica_);
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(read(first_).status.phase, Phase::kCancelled);
  EXPECT_EQ(owner_annotation_on(node())->name, second_);
}

}  // namespace
}  // namespace gpuward::remediator
