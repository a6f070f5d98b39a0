// Several nodes fail at the same moment. gpuward taints and cordons all of them first, then records
// that, then writes messages. It evicts no pod before that.
#include <algorithm>

#include "remediator/cluster/view_queries.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class MarksFirstTest : public ClusterTest {
 protected:
  MarksFirstTest() {
    clock_.advance(minutes(15));  // the startup grace is over
    plan({Step::kTaint, Step::kCordon, Step::kDrain});
    reports_.answer = report_of(Severity::kReboot);
    add_node("gpu-02");
  }
  void plan(const std::vector<Step>& steps, Mode mode = Mode::kFull) {
    Policy policy;
    policy.mode = mode;
    for (const Step step : steps) policy.steps[Severity::kReboot].push_back(planned(step));
    policy_.set(policy);
  }
  void go_bad(const std::string& node) {
    AlertSignal bad = signal();
    bad.node = node;
    ASSERT_TRUE(take({bad}));
  }
  // gpu-01 is tainted and cordoned before gpu-02, which failed with it.
  void mark_the_first() {
    go_bad("gpu-01");
    go_bad("gpu-02");
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(is_annotated());
  }
  // gpu-01 is tainted, cordoned and recorded before gpu-02 fails.
  void be_late() {
    go_bad("gpu-01");
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(of_first().has_done(Step::kCordon));
    go_bad("gpu-02");
  }
  bool is_annotated() { return our_taint_on(node()) && node().unschedulable; }
  Remediation of(const std::string& node) {
    const auto all = remediations();
    return *std::ranges::find(all, node, &Remediation::node);
  }
  Remediation first() { return of("gpu-01"); }
  RemediationStatus of_first() { return first().status; }
};

TEST_F(MarksFirstTest, WhatWasDoneIsWrittenDownWhenAllAreMarked) {
  mark_the_first();
  EXPECT_EQ(of_first().phase, Phase::kPending);
  EXPECT_EQ(of_first().find(Step::kCordon)->result, StepResult::kIntended);
  EXPECT_THAT(replica_->announcer.events, IsEmpty());
  ASSERT_TRUE(look_.look_again);
  EXPECT_LE(*look_.look_again, milliseconds(300));

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
  EXPECT_THAT(replica_->recorder.milestones, Contains(Pair(Milestone::kCordoned, 0)));
}

// Other nodes keep failing, but gpuward still records its work.
TEST_F(MarksFirstTest, WhatWasDoneIsWrittenDownAfterHalfAMinuteWhateverOthersWaitFor) {
  mark_the_first();
  clock_.advance(seconds(20));
  add_node("gpu-03");
  go_bad("gpu-03");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(of_first().phase, Phase::kPending);

  clock_.advance(seconds(11));
  ASSERT_TRUE(has_untainted_since(replica_->view, clock_.wall() - seconds(30), "gpu-01"));
  ASSERT_TRUE(reconcile());

  EXPECT_TRUE(of_first().has_done(Step::kCordon));
}

TEST_F(MarksFirstTest, NothingIsAskedAgainWhileItWaits) {
  mark_the_first();
  kube_.clear_requests();
  slots_.asked.clear();

  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_THAT(kube_.requests("GET", "/api/v1/nodes/"), IsEmpty());
  EXPECT_EQ(writes(), 0U);
  EXPECT_THAT(slots_.asked, IsEmpty());
}

// A storm cannot get further than this with the default budgets.
TEST_F(MarksFirstTest, ACordonThatIsRefusedIsAskedForOnceMoreWhenAllAreTainted) {
  slots_.answer =
      SlotRefusal{.guard = "budget.cordon", .message = "no more of them", .has_taint = true};
  go_bad("gpu-01");
  go_bad("gpu-02");
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(our_taint_on(node()));
  slots_.asked.clear();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reconcile());
  EXPECT_THAT(slots_.asked, IsEmpty());

  ASSERT_TRUE(reconcile(10, "gpu-02"));
  slots_.asked.clear();
  ASSERT_TRUE(reconcile());

  EXPECT_THAT(slots_.asked, SizeIs(1));
  EXPECT_THAT(of_first().message, HasSubstr("the cordon waits: no more of them"));
  EXPECT_TRUE(of_first().has_done(Step::kTaint));
}

TEST_F(MarksFirstTest, ACordonWithoutATaintIsAMarkToo) {
  plan({Step::kCordon});
  go_bad("gpu-01");
  go_bad("gpu-02");
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(node().unschedulable);

  ASSERT_TRUE(reconcile(10, "gpu-02"));
  ASSERT_TRUE(reconcile());

  EXPECT_TRUE(of("gpu-02").status.has_done(Step::kCordon));
  EXPECT_TRUE(of_first().has_done(Step::kCordon));
}

// gpuward distinguishes a node that it may not change from nodes that are still in line.
TEST_F(MarksFirstTest, ANodeThatCannotBeMarkedIsNotWaitedFor) {
  go_bad("gpu-01");
  go_bad("gpu-02");
  kube_.add_fault({.kind = fakes::FaultKind::kForbidden, .method = "PATCH", .path = ".*gpu-02"});
  EXPECT_FALSE(reconcile(1, "gpu-02"));

  ASSERT_TRUE(reconcile());

  EXPECT_TRUE(of_first().has_done(Step::kCordon));
}

TEST_F(MarksFirstTest, AConflictDoesNotMoveTheTimeOfTheMarks) {
  mark_the_first();
  const WallTime marked_at = clock_.wall();
  ASSERT_TRUE(reconcile(10, "gpu-02"));
  clock_.advance(seconds(3));
  kube_.add_fault({.kind = fakes::FaultKind::kConflict, .method = "PUT", .times = 1});
  EXPECT_FALSE(reconcile(1));
  clock_.advance(seconds(3));
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(of_first().find(Step::kCordon)->finished_at,
            std::chrono::floor<milliseconds>(marked_at));
}

// Otherwise no record would ever say that taint and cordon were set.
TEST_F(MarksFirstTest, WhatWasDoneIsWrittenDownWithWhateverIsDecidedNext) {
  mark_the_first();
  AlertSignal ended = signal(Severity::kReboot, false);
  ASSERT_TRUE(take({ended}));

  ASSERT_TRUE(reconcile());

  EXPECT_THAT(of_first().message, HasSubstr("does not return nodes"));
  EXPECT_TRUE(of_first().has_done(Step::kTaint));
  EXPECT_TRUE(of_first().has_done(Step::kCordon));
  EXPECT_TRUE(of_first().reached.contains(Milestone::kCordoned));
}

TEST_F(MarksFirstTest, ANodeThatIsOnlyRecordedIsNotWaitedFor) {
  plan({Step::kTaint, Step::kCordon}, Mode::kTaint);
  go_bad("gpu-01");
  AlertSignal watched = signal(Severity::kMonitor);
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

// Otherwise each of hundreds of nodes would wait for all that are tainted but not recorded.
TEST_F(MarksFirstTest, WhoIsMarkedIsNotWaitedForByAnybody) {
  mark_the_first();
  const WallTime since = clock_.wall() - seconds(30);

  EXPECT_FALSE(has_untainted_since(replica_->view, since, "gpu-02"));
  EXPECT_TRUE(has_untainted_since(replica_->view, since, "gpu-01"));
  EXPECT_TRUE(has_unrecorded_since(replica_->view, since, "gpu-02"));
  restart();
  EXPECT_FALSE(has_untainted_since(replica_->view, since, "gpu-02"));
}

// At this moment only the annotation says that the cordon is gpuward's.
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

// A job on two bad nodes must restart once, and not on the node that is still to be tainted.
TEST_F(MarksFirstTest, ADrainWaitsForTheMarksOfNodesThatWentBadAtTheSameMoment) {
  be_late();

  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);

  ASSERT_TRUE(reconcile(10, "gpu-02"));
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

// The taint of the other node must not wait for the message that the drain waits.
TEST_F(MarksFirstTest, TheWordsAboutANodeWaitForTheMarksOfOthersToo) {
  be_late();
  const auto before = first();

  ASSERT_TRUE(reconcile());
  EXPECT_EQ(first().resource_version, before.resource_version);
}

// Taint and cordon are not enough: gpuward first records them for all nodes, then writes what each
// waits for.
TEST_F(MarksFirstTest, TheWordsAboutANodeWaitForTheRecordsOfOthersToo) {
  add_node("gpu-03");
  for (const char* node : {"gpu-01", "gpu-02", "gpu-03"}) go_bad(node);
  for (const char* node : {"gpu-01", "gpu-02", "gpu-03"}) ASSERT_TRUE(reconcile(10, node));
  ASSERT_EQ(of("gpu-02").status.phase, Phase::kPending);
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(of_first().phase, Phase::kQuarantined);
  const auto before = first();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(first().resource_version, before.resource_version);
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
}

TEST_F(MarksFirstTest, ANodeThatHasBeenBadForLongerSaysForWhomItWaits) {
  go_bad("gpu-01");
  ASSERT_TRUE(reconcile());
  clock_.advance(seconds(31));
  reports_.answer = report_of(Severity::kReboot);
  go_bad("gpu-02");

  ASSERT_TRUE(reconcile());
  EXPECT_EQ(first().status.rule, "guard.taint-first");
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
