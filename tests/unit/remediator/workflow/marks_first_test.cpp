// Nodes that go bad at the same moment: all are marked first, then what was done is written down,
// then what is only good to know; nobody is evicted before.
#include <algorithm>

#include "tests/unit/remediator/workflow/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class MarksFirstTest : public ClusterTest {
 protected:
  MarksFirstTest() {
    clock_.advance(minutes(15));  // the nodes are no newcomers
    Policy policy;
    policy.mode = Mode::kFull;
    policy.steps[Severity::kReboot] = {planned(Step::kTaint), planned(Step::kCordon),
                                       planned(Step::kDrain)};
    policy_.set(policy);
    reports_.answer = report_of(Severity::kReboot);
    add_node("gpu-02");
  }
  void go_bad(const std::string& node) {
    Order bad = order();
    bad.node = node;
    ASSERT_TRUE(take({bad}));
  }
  // gpu-01 is marked before gpu-02, which went bad with it.
  void mark_the_first() {
    go_bad("gpu-01");
    go_bad("gpu-02");
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(is_marked());
  }
  // gpu-01 is marked and done with before gpu-02 goes bad.
  void be_late() {
    go_bad("gpu-01");
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(of_first().has_done(Step::kCordon));
    go_bad("gpu-02");
  }
  bool is_marked() { return our_taint_on(node()) && node().unschedulable; }
  Remediation first() {
    const auto all = remediations();
    return *std::ranges::find(all, "gpu-01", &Remediation::node);
  }
  RemediationStatus of_first() { return first().status; }
};

TEST_F(MarksFirstTest, WhatWasDoneIsWrittenDownWhenAllAreMarked) {
  mark_the_first();
  EXPECT_EQ(of_first().phase, Phase::kPending);
  EXPECT_EQ(of_first().find(Step::kCordon)->result, StepResult::kIntended);
  EXPECT_THAT(replica_->announcer.events, IsEmpty());
  ASSERT_TRUE(*look_again_);
  EXPECT_LE(**look_again_, milliseconds(300));

  ASSERT_TRUE(reconcile(10, "gpu-02"));
  kube_.clear_requests();
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(of_first().phase, Phase::kQuarantined);
  EXPECT_TRUE(of_first().has_done(Step::kTaint));
  EXPECT_TRUE(of_first().has_done(Step::kCordon));
  EXPECT_EQ(node_writes(), 0U);
  EXPECT_THAT(replica_->announcer.events, SizeIs(2));
}

TEST_F(MarksFirstTest, TheTimeOfTheMarksIsThatOfTheMarks) {
  mark_the_first();
  const WallTime marked_at = clock_.wall();
  clock_.advance(seconds(7));
  ASSERT_TRUE(reconcile(10, "gpu-02"));
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(of_first().find(Step::kCordon)->finished_at,
            std::chrono::floor<milliseconds>(marked_at));
  EXPECT_THAT(replica_->witness.milestones, Contains(Pair(Milestone::kCordoned, 0)));
}

TEST_F(MarksFirstTest, WhatWasDoneIsWrittenDownAfterHalfAMinuteWhateverOthersWaitFor) {
  mark_the_first();
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(of_first().phase, Phase::kPending);

  clock_.advance(seconds(31));
  ASSERT_TRUE(reconcile());

  EXPECT_TRUE(of_first().has_done(Step::kCordon));
}

TEST_F(MarksFirstTest, ANodeThatWillNotBeMarkedIsNotWaitedFor) {
  Policy policy = *policy_.get();
  policy.mode = Mode::kTaint;
  policy_.set(policy);
  go_bad("gpu-01");
  Order watched = order(Severity::kMonitor);
  watched.node = "gpu-02";
  ASSERT_TRUE(take({watched}));

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(of_first().phase, Phase::kQuarantined);
}

TEST_F(MarksFirstTest, AnotherProcessFindsTheMarksAndWritesThemDown) {
  mark_the_first();
  restart();
  kube_.clear_requests();

  ASSERT_TRUE(reconcile(10, "gpu-02"));
  ASSERT_TRUE(reconcile());

  EXPECT_TRUE(of_first().has_done(Step::kCordon));
  EXPECT_THAT(kube_.requests("PATCH", "/api/v1/nodes/gpu-01"), IsEmpty());
}

// Else each of hundreds would wait for all that are marked but not written down.
TEST_F(MarksFirstTest, WhoIsMarkedIsNotWaitedForByAnybody) {
  mark_the_first();
  const WallTime since = clock_.wall() - seconds(30);

  EXPECT_FALSE(replica_->view.has_unmarked_since(since, "gpu-02"));
  EXPECT_TRUE(replica_->view.has_unmarked_since(since, "gpu-01"));
  EXPECT_TRUE(replica_->view.has_unrecorded_since(since, "gpu-02"));
  restart();
  EXPECT_FALSE(replica_->view.has_unmarked_since(since, "gpu-02"));
}

// As it stands before anything says that the cordon is ours but the mark.
TEST_F(MarksFirstTest, AHumanWhoUncordonsBeforeItIsWrittenDownWins) {
  mark_the_first();
  kube_.patch("/api/v1/nodes/gpu-01", Json{{"spec", {{"unschedulable", nullptr}}}});

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(of_first().phase, Phase::kPaused);
  EXPECT_FALSE(node().unschedulable);
}

TEST_F(MarksFirstTest, ACancelBeforeItIsWrittenDownTakesTheMarksOff) {
  mark_the_first();
  kube_.patch(remediation_collection() + "/" + first().name,
              Json{{"metadata", {{"annotations", {{std::string(kCancelAnnotation), "true"}}}}}});

  ASSERT_TRUE(reconcile());

  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_FALSE(node().unschedulable);
  EXPECT_EQ(of_first().phase, Phase::kCancelled);
}

// A job on two bad nodes is to restart once: not on the one that is still to be tainted.
TEST_F(MarksFirstTest, ADrainWaitsForTheMarksOfNodesThatWentBadAtTheSameMoment) {
  be_late();

  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);

  ASSERT_TRUE(reconcile(10, "gpu-02"));
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

// That the drain waits is nothing that the other node's taint should wait for.
TEST_F(MarksFirstTest, TheWordsAboutANodeWaitForTheMarksOfOthersToo) {
  be_late();
  const auto before = first();

  ASSERT_TRUE(reconcile());
  EXPECT_EQ(first().resource_version, before.resource_version);
}

TEST_F(MarksFirstTest, ANodeThatHasBeenBadForLongerSaysForWhomItWaits) {
  go_bad("gpu-01");
  ASSERT_TRUE(reconcile());
  clock_.advance(seconds(31));
  reports_.answer = report_of(Severity::kReboot);
  go_bad("gpu-02");

  ASSERT_TRUE(reconcile());
  EXPECT_EQ(first().status.rule, "guard.marks-first");
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
}

TEST_F(MarksFirstTest, ADrainDoesNotWaitForEverForTheMarksOfOthers) {
  be_late();

  clock_.advance(seconds(31));
  reports_.answer = report_of(Severity::kReboot);
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

}  // namespace
}  // namespace gpuward::remediator
