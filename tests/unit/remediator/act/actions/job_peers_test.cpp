// Tests which nodes failed together, as each of them sees it.
#include "remediator/act/actions/job_peers.h"

#include <gmock/gmock.h>

#include "remediator/act/actions/step_progress.h"
#include "remediator/model/diagnostics.h"
#include "tests/unit/remediator/act/actions/intended_step.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class JobPeersTest : public ::testing::Test {
 protected:
  JobPeersTest() {
    policy_.mode = Mode::kFull;
    policy_.recovery[Severity::kIsolate] = {planned(Step::kNcclPairs)};
  }
  JobPeer& add(const std::string& name, const std::string& jobs, minutes opened = minutes(0)) {
    auto node = std::make_shared<kube::Node>();
    node->meta.name = name;
    node->meta.uid = "uid-" + name;
    node->boot_id = "boot";
    Remediation remediation;
    remediation.name = name + "-1";
    remediation.node = name;
    remediation.node_uid = node->meta.uid;
    remediation.created = WallTime() + opened;
    remediation.severity = Severity::kIsolate;
    remediation.status.phase = Phase::kTesting;
    const Facts facts = jobs.empty() ? Facts() : Facts{{kJobsFact, jobs}};
    remediation.status.steps = {
        intended_step(Step::kDrain, Severity::kIsolate, WallTime(), facts),
        intended_step(Step::kNcclPairs, Severity::kIsolate, WallTime(), {{kJobBootFact, "boot"}})};
    all_.push_back({std::move(remediation), std::move(node)});
    return all_.back();
  }
  PeerGroup seen_by(std::size_t at) {
    std::vector<SeenRemediation> open;
    for (const JobPeer& one : all_) open.push_back({one.remediation, one.node});
    return peers_of(all_.at(at), open, minutes(10), std::make_shared<const Policy>(policy_));
  }
  static std::vector<std::string> names(const std::vector<JobPeer>& peers) {
    std::vector<std::string> found;
    for (const JobPeer& one : peers) found.push_back(one.remediation.node);
    return found;
  }

  Policy policy_;
  std::vector<JobPeer> all_;
};

TEST_F(JobPeersTest, ShareAJob) {
  all_.reserve(8);
  add("a", "JobSet x/one, JobSet x/two");
  add("b", "JobSet x/two");
  add("c", "JobSet x/three");

  EXPECT_THAT(names(seen_by(0).there), ElementsAre("a", "b"));
  EXPECT_THAT(names(seen_by(2).there), ElementsAre("c"));
}

TEST_F(JobPeersTest, WithoutAJobWereOpenedTogether) {
  add("a", "");
  add("b", "JobSet x/two", minutes(10));
  add("c", "", minutes(11));
  add("d", "", minutes(30));

  EXPECT_THAT(names(seen_by(0).there), ElementsAre("a", "b", "c")) << "c by way of b";
  EXPECT_THAT(names(seen_by(3).there), ElementsAre("d"));
}

TEST_F(JobPeersTest, AreTheSameWhoeverAsks) {
  add("a", "JobSet x/one");
  add("b", "JobSet x/one, JobSet x/two");
  add("c", "JobSet x/two");

  for (std::size_t at = 0; at < 3; ++at)
    EXPECT_THAT(names(seen_by(at).there), ElementsAre("a", "b", "c"));
}

// A node that is out still connects two others.
TEST_F(JobPeersTest, AreTiedByThoseThatAreOut) {
  add("a", "JobSet x/one");
  add("b", "JobSet x/one, JobSet x/two").remediation.status.phase = Phase::kHeld;
  add("c", "JobSet x/two");

  EXPECT_THAT(names(seen_by(0).there), ElementsAre("a", "c"));
  EXPECT_THAT(names(seen_by(0).out), ElementsAre("b"));
}

// A diagnostic that restarted and was withdrawn no longer counts, even if it had failed before.
TEST_F(JobPeersTest, AreOutByTheirOwnDiagnosticOnlyIfItCountsStill) {
  Remediation& remediation = add("a", "JobSet x/one").remediation;
  StepRecord test = intended_step(Step::kQuarantineJob, Severity::kIsolate, WallTime(), {});
  test.result = StepResult::kFailed;
  remediation.status.steps.push_back(test);
  EXPECT_TRUE(is_out_by_own_diagnostics(remediation));
  remediation.status.steps.back().severity = Severity::kNone;
  EXPECT_FALSE(is_out_by_own_diagnostics(remediation));
}

TEST_F(JobPeersTest, AreComingIfTheirRecoveryLeadsThere) {
  all_.reserve(8);
  add("a", "JobSet x/one");
  add("b", "JobSet x/one").remediation.status.steps.pop_back();
  auto& milder = add("c", "JobSet x/one").remediation;
  milder.status.steps.pop_back();
  milder.severity = Severity::kReset;

  EXPECT_THAT(names(seen_by(0).coming), ElementsAre("b"));
  EXPECT_THAT(seen_by(0).out, IsEmpty()) << "the policy of c has no such step";
  policy_.mode = Mode::kCordon;
  EXPECT_THAT(seen_by(0).coming, IsEmpty());
}

TEST_F(JobPeersTest, AreOutOnceTheyAreThroughOrHandsAreToBeKeptOff) {
  all_.reserve(16);
  add("a", "JobSet x/one");
  add("b", "JobSet x/one").remediation.status.steps[1].result = StepResult::kDone;
  add("c", "JobSet x/one").remediation.status.steps[1].result = StepResult::kFailed;
  add("d", "JobSet x/one").remediation.wish.cancel = true;
  add("e", "JobSet x/one").remediation.wish.pause = true;
  add("f", "JobSet x/one").remediation.deleting = true;
  add("g", "JobSet x/one").remediation.status.phase = Phase::kQuarantined;  // excluded meanwhile
  add("h", "JobSet x/one").remediation.node_uid = "of the node before it";
  add("i", "JobSet x/one").remediation.status.steps[1].facts[kJobBootFact] = "before";
  add("j", "JobSet x/one").node.reset();

  EXPECT_THAT(names(seen_by(0).there), ElementsAre("a"));
  EXPECT_THAT(seen_by(0).coming, IsEmpty());
  EXPECT_EQ(seen_by(0).out.size(), 9U);
}

// A node stays in `out` after its Remediation was closed, as long as a peer may ask for its result.
// It no longer comes to the step, however far it was when its severity rose.
TEST_F(JobPeersTest, AreNotComingOnceTheyAreClosed) {
  all_.reserve(8);
  add("a", "JobSet x/one");
  Remediation& closed = add("b", "JobSet x/one").remediation;
  closed.status.steps.back().severity = Severity::kReboot;
  ASSERT_THAT(names(seen_by(0).coming), ElementsAre("b"));
  closed.status.phase = Phase::kReleased;
  closed.status.closed_at = WallTime() + minutes(1);

  EXPECT_THAT(names(seen_by(0).coming), IsEmpty());
  EXPECT_THAT(names(seen_by(0).out), ElementsAre("b"));
}

TEST_F(JobPeersTest, AreOutIfTheyWereClosedSince) {
  all_.reserve(4);
  add("a", "JobSet x/one", minutes(60));
  for (const int closed : {59, 61}) {
    Remediation& one = add("closed-" + std::to_string(closed), "JobSet x/one").remediation;
    one.status.phase = Phase::kReleased;
    one.status.closed_at = WallTime() + minutes(closed);
  }

  EXPECT_THAT(names(seen_by(0).out), ElementsAre("closed-61"));
}

}  // namespace
}  // namespace gpuward::remediator
