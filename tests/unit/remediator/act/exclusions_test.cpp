// Excluded nodes: gpuward begins no step on them, keeps taint and cordon, and resumes by itself
// when the exclusion ends.
#include "remediator/cluster/exclusion_store.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using fakes::FaultKind;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Optional;
using ::testing::SizeIs;

const std::string kMapPath = "/api/v1/namespaces/default/configmaps/gpuward-exclusions";

class ExclusionsTest : public ClusterTest {
 protected:
  ExclusionsTest() {
    clock_.advance(minutes(15));  // the startup grace is over
    exclusions_ = &store_;
    Policy policy;
    policy.mode = Mode::kFull;
    policy.steps[Severity::kReboot] = {planned(Step::kTaint), planned(Step::kCordon),
                                       planned(Step::kDrain)};
    policy_.set(policy);
    reports_.answer = report_of(Severity::kReboot);
    restart();
  }
  void exclude(const std::string& subject, minutes lasts = minutes(30)) {
    ASSERT_TRUE(human_.change([&](ExclusionList list) {
      list[subject] = {
          .since = clock_.wall(), .until = clock_.wall() + lasts, .reason = "a test", .by = "me"};
      return Result<ExclusionList>(std::move(list));
    }));
  }
  void remove_all() {
    ASSERT_TRUE(human_.change([](const ExclusionList&) { return ExclusionList(); }));
  }

  ExclusionStore store_{api_, "default", clock_};
  ExclusionStore human_{api_, "default", clock_};
};

TEST_F(ExclusionsTest, ANodeIsOnlyRecordedAndTakenUpWhenItIsOver) {
  exclude("gpu-01");
  ASSERT_TRUE(take({signal()}));

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kObserved);
  EXPECT_EQ(remediation().status.rule, "excluded");
  EXPECT_THAT(remediation().status.message,
              HasSubstr("gpu-01 is excluded until 2026-01-01T00:45:00Z by me: a test"));
  EXPECT_FALSE(node().unschedulable);
  ASSERT_TRUE(look_);
  EXPECT_THAT(look_.look_again, Optional(Le(minutes(1))));
  clock_.advance(minutes(31));
  ASSERT_TRUE(reconcile());
  expect_quarantined();
}

TEST_F(ExclusionsTest, AMachineIsMeantByItsInstance) {
  kube_.patch("/api/v1/nodes/gpu-01", {{"spec", {{"providerID", "aws:///eu-1a/i-0123"}}}});
  exclude("i-0123");
  ASSERT_TRUE(take({signal()}));

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.rule, "excluded");
}

TEST_F(ExclusionsTest, WithoutAnyNothingIsDifferent) {
  ASSERT_TRUE(take({signal()}));

  ASSERT_TRUE(reconcile());

  expect_quarantined();
}

// The list in memory is some seconds old, which is not enough before a disruptive step.
TEST_F(ExclusionsTest, AreReadAgainRightBeforeADisruptiveStep) {
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());
  expect_quarantined();
  exclude("gpu-01");
  ASSERT_FALSE(store_.last().contains("gpu-01"));

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
  EXPECT_THAT(slots_.asked, SizeIs(1)) << "of the cordon alone";
  EXPECT_EQ(remediation().status.rule, "excluded");
  remove_all();
  clock_.advance(minutes(1));
  reports_.answer = report_of(Severity::kReboot);
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

TEST_F(ExclusionsTest, ExcludeAsBeforeIfSomebodyDeletesTheConfigMap) {
  exclude("gpu-01");
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());
  kube_.remove(kMapPath);
  clock_.advance(seconds(20));

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.rule, "excluded");
  EXPECT_FALSE(node().unschedulable);
  ASSERT_TRUE(kube_.has(kMapPath)) << "else the next process would not know";
  EXPECT_THAT(kube_.get(kMapPath)["data"]["gpu-01"].get<std::string>(), HasSubstr("a test"));
  remove_all();
  clock_.advance(minutes(1));
  ASSERT_TRUE(reconcile());
  expect_quarantined();
}

TEST_F(ExclusionsTest, BeginNothingIfTheDeletedConfigMapCannotBeMadeAgain) {
  exclude("gpu-01");
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());
  kube_.remove(kMapPath);
  clock_.advance(seconds(20));
  kube_.add_fault({.kind = FaultKind::kDropBefore,
                   .method = "POST",
                   .path = "/api/v1/namespaces/default/configmaps",
                   .times = 2});

  EXPECT_FALSE(reconcile(1));

  EXPECT_FALSE(node().unschedulable);
}

TEST_F(ExclusionsTest, ThatAreOverAreNotMadeAgain) {
  exclude("gpu-01");
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());
  kube_.remove(kMapPath);
  clock_.advance(minutes(31));

  ASSERT_TRUE(reconcile());

  expect_quarantined();
  EXPECT_FALSE(kube_.has(kMapPath));
}

TEST_F(ExclusionsTest, ThatCannotBeReadStopNothingForGoodButBeginNothing) {
  ASSERT_TRUE(take({signal()}));
  kube_.add_fault({.kind = FaultKind::kDropBefore, .method = "GET", .path = kMapPath, .times = 2});

  EXPECT_FALSE(reconcile(1));
  EXPECT_FALSE(node().unschedulable);

  ASSERT_TRUE(reconcile());
  expect_quarantined();
}

TEST_F(ExclusionsTest, AreReadOnceForManyLooks) {
  ASSERT_TRUE(store_.read(seconds(15)));
  kube_.clear_requests();

  ASSERT_TRUE(store_.read(seconds(15)));

  EXPECT_THAT(kube_.requests("GET", kMapPath), IsEmpty());
  clock_.advance(seconds(15));
  ASSERT_TRUE(store_.read(seconds(15)));
  EXPECT_THAT(kube_.requests("GET", kMapPath), SizeIs(1));
}

TEST_F(ExclusionsTest, WhatIsLongOverGoesWithTheNextChange) {
  exclude("gpu-02", minutes(1));
  clock_.advance(minutes(2) + std::chrono::hours(24));

  exclude("gpu-01");

  EXPECT_THAT(*human_.read(), SizeIs(1));
}

TEST_F(ExclusionsTest, AreChangedByCompareAndSet) {
  exclude("gpu-02");
  bool is_first = true;

  ASSERT_TRUE(human_.change([&](ExclusionList list) {
    if (std::exchange(is_first, false)) exclude("gpu-03");  // another operator wrote first
    list["gpu-01"] = {.since = {}, .until = clock_.wall() + minutes(1), .reason = {}, .by = {}};
    return Result<ExclusionList>(std::move(list));
  }));

  EXPECT_THAT(*human_.read(), SizeIs(3));
}

// The clock of another operator is hours ahead.
TEST_F(ExclusionsTest, AreEndedByNoOtherClockThanTheRemediators) {
  exclude("gpu-01");
  fakes::FakeClock ahead{fakes::FakeClock::Mode::kAutoAdvance};
  ahead.jump_wall(std::chrono::hours(9));
  ExclusionStore bobs(api_, "default", ahead);
  ASSERT_TRUE(bobs.change([&](ExclusionList list) {
    list["gpu-02"] = {.since = ahead.wall(),
                      .until = ahead.wall() + minutes(30),
                      .reason = "another test",
                      .by = "bob"};
    return Result<ExclusionList>(std::move(list));
  }));

  const auto list = store_.read(std::chrono::milliseconds(0));

  ASSERT_TRUE(list);
  EXPECT_TRUE(list->contains("gpu-01"));
}

}  // namespace
}  // namespace gpuward::remediator
