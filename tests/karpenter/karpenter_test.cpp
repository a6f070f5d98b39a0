// Karpenter itself beside the remediator: which of them ends which node, which makes the next one,
// and how each treats a node on which the other works.
#include <gmock/gmock.h>

#include "tests/karpenter/karpenter_fleet.h"
#include "tests/support/require.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class KarpenterBeside : public ::testing::Test {
 protected:
  void SetUp() override { GPUWARD_REQUIRE(KarpenterFleet::why_unavailable()); }
  void start(const KarpenterOptions& options) {
    fleet_ = std::make_unique<KarpenterFleet>(options);
    nodes_ = fleet_->nodes();
  }
  bool waits_for_approval(const std::string& node) {
    return fleet_->message(node).find("waits for approval") != std::string::npos;
  }
  ::testing::AssertionResult reaches(const std::string& node, const std::string& phase) {
    if (fleet_->play_until([&] { return fleet_->phase(node) == phase; }))
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << fleet_->phase(node) << ": " << fleet_->message(node) << "\n"
           << fleet_->logs();
  }

  std::unique_ptr<KarpenterFleet> fleet_;
  std::vector<std::string> nodes_;
};

TEST_F(KarpenterBeside, MakesTheNodeThatReplacesOneWhoseNodeClaimWasDeleted) {
  // Karpenter's budget limits only its own disruptions: it does not stop gpuward, and Karpenter
  // does not delete the drained node meanwhile.
  start({.disruption = "{consolidationPolicy: WhenEmpty, consolidateAfter: 0s, budgets: [{nodes: "
                       "'0'}]}",
         .policy = "severities:\n  isolate: [taint, cordon, drain, terminate, verify: {soak: 0s}]\n"
                   "budgets: {cordon: {nodes: 2}}\n"});
  for (const std::string& node : nodes_) fleet_->break_gpu(node, Severity::kIsolate);
  std::string first, second;
  ASSERT_TRUE(fleet_->play_until([&] {
    for (int i : {0, 1}) {
      if (!waits_for_approval(nodes_[i])) continue;
      first = nodes_[i];
      second = nodes_[1 - i];
      return true;
    }
    return false;
  })) << fleet_->message(nodes_[0])
      << fleet_->message(nodes_[1]) << fleet_->logs();
  EXPECT_THAT(fleet_->message(second), HasSubstr("1 of 1 allowed are being worked on"));
  const std::string claim = fleet_->node_claim_of(first);

  fleet_->approve(first);
  ASSERT_TRUE(reaches(first, "Replaced"));

  EXPECT_FALSE(fleet_->has_node(first));
  EXPECT_FALSE(fleet_->has_node_claim(claim));
  EXPECT_THAT(fleet_->message(first), HasSubstr("replaced by node"));
  EXPECT_TRUE(fleet_->play_until([&] { return waits_for_approval(second); }))
      << fleet_->message(second);
}

// A node that was drained for a restart is empty: Karpenter considers it superfluous.
TEST_F(KarpenterBeside, TakesTheDrainedNodeAwayUnlessItsAnnotationForbidsIt) {
  start({.disruption = "{consolidationPolicy: WhenEmpty, consolidateAfter: 0s, budgets: [{nodes: "
                       "100%}]}",
         .policy = "severities:\n  reboot: [taint, cordon, drain, wait: {approval: true}, reboot, "
                   "verify: {soak: 0s}, return-to-service]\n"
                   "machines: {reboot: [/bin/false]}\nbudgets: {cluster: {nodes: 2}, pool: "
                   "{nodes: 2}, zone: {nodes: 2}, cordon: {nodes: 2}}\n"});
  const std::string &taken = nodes_[0], &kept = nodes_[1];
  fleet_->annotate(kept, "karpenter.sh/do-not-disrupt=true");
  fleet_->break_gpu(kept, Severity::kReboot);
  ASSERT_TRUE(fleet_->play_until([&] { return waits_for_approval(kept); })) << fleet_->logs();

  fleet_->break_gpu(taken, Severity::kReboot);
  ASSERT_TRUE(reaches(taken, "Superseded"));

  EXPECT_FALSE(fleet_->has_node(taken));
  EXPECT_TRUE(fleet_->has_node(kept)) << "it has been empty for longer";
  EXPECT_TRUE(waits_for_approval(kept));
  EXPECT_THAT(fleet_->nodes(), SizeIs(2)) << "Karpenter has made nodes for both pods";
}

// For repairs it obeys only its own annotation and, with the provider's time limit, no disruption
// budget.
TEST_F(KarpenterBeside, RepairsANodeThatGpuwardIsDraining) {
  start({.disruption = "{consolidationPolicy: WhenEmpty, consolidateAfter: Never}",
         .repairs = true,
         .policy = "severities:\n  reboot: [taint, cordon, drain, reboot, verify: {soak: 0s}, "
                   "return-to-service]\nmachines: {reboot: [/bin/false]}\n"});
  const std::string& node = nodes_[0];
  fleet_->annotate(node, "karpenter.sh/do-not-disrupt=true");
  fleet_->forbid_evictions();
  fleet_->break_gpu(node, Severity::kReboot);
  ASSERT_TRUE(fleet_->play_until([&] { return fleet_->phase(node) == "Draining"; }))
      << fleet_->phase(node) << fleet_->message(node) << fleet_->logs();
  EXPECT_EQ(fleet_->pods_on(node), 1U);
  const std::string claim = fleet_->node_claim_of(node);

  // The kwok provider's repair policy: 30 s in that condition, and 45 s for the pods.
  fleet_->report_unhealthy(node, std::chrono::minutes(11));
  ASSERT_TRUE(reaches(node, "Superseded"));

  EXPECT_FALSE(fleet_->has_node(node));
  // The NodeClaim is deleted after the Node.
  EXPECT_TRUE(fleet_->play_until(
      [&] { return !fleet_->has_node_claim(claim) && fleet_->nodes().size() == 2; }));
}

}  // namespace
}  // namespace gpuward::remediator
