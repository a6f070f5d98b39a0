// The step `drain` over the drainer, on a cluster in memory.
#include "remediator/act/actions/drain_action.h"

#include "remediator/act/actions/step_progress.h"
#include "tests/unit/remediator/act/actions/intended_step.h"
#include "tests/unit/remediator/act/drain/drain_cluster.h"

namespace gpuward::remediator {
namespace {

class DrainActionTest : public DrainCluster {
 protected:
  DrainActionTest() {
    kube_.create("/api/v1/nodes", fakes::ready_node("gpu-01"));
    node_ = *api_.get_node("gpu-01");
    // The drain starts a second later, so that it takes pods of this second for older ones.
    remediation_.status.steps = {intended_step(Step::kDrain, Severity::kReboot,
                                               clock_.wall() + std::chrono::seconds(1), {})};
  }
  StepRequest request() {
    return {.remediation = remediation_,
            .node = node_,
            .step = step_,
            .facts = {},
            .permit = permit_,
            .now = clock_.wall(),
            .ran = ran_of(remediation_, step_.step, clock_.wall())};
  }

  Evictor evictor_{api_, clock_, {.per_second = 1.0, .burst = 1}, Evictor::Sending::kInCalls};
  Drainer drainer_{api_, evictor_, clock_};
  DrainAction action_{drainer_, ""};
  kube::Node node_;
  Remediation remediation_;
  PlannedStep step_ = planned(Step::kDrain);
};

TEST_F(DrainActionTest, SendsNothingThatWaitedWhenItWasAbandoned) {
  add_pod("work-1");
  add_pod("work-2");
  ASSERT_TRUE(action_.begin(request()));
  ASSERT_EQ(evictions(), 1U);  // the rate's burst

  ASSERT_TRUE(action_.abandon(request()));
  clock_.advance(std::chrono::minutes(1));
  (void)evictor_.collect("gpu-01");  // sends what is due

  EXPECT_EQ(evictions(), 1U);
  EXPECT_EQ(drainer_.remembered(), 0U);
}

// The step restart-job reads these names.
TEST_F(DrainActionTest, WritesDownTheJobsThatLosePodsEachOnce) {
  const Json of_train = {{"metadata", {{"labels", {{"job-name", "train"}}}}}};
  add_pod("rank-0", "gpu-01", of_train);
  add_pod("rank-1", "gpu-01", of_train);
  const auto first = action_.begin(request());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->facts.at(kJobsFact), "Job default/train");

  clock_.advance(std::chrono::minutes(1));  // the rate allows the next
  Drainer after_a_crash(api_, evictor_, clock_);
  StepRequest again = request();
  again.facts = first->facts;
  const auto second = DrainAction(after_a_crash, "").watch(again);

  ASSERT_TRUE(second);
  EXPECT_EQ(second->news.size(), 1U);
  EXPECT_EQ(second->facts.at(kJobsFact), "Job default/train");
}

// The history and an Event name the pods that stay and what each waits for.
TEST_F(DrainActionTest, TellsOnceWhatADrainWaitsFor) {
  add_pod("web");
  add_budget("web-pdb", "web", 0);
  std::vector<std::string> news;
  for (int i = 0; i < 90; ++i) {
    const auto progress = action_.watch(request());
    ASSERT_TRUE(progress);
    news.insert(news.end(), progress->news.begin(), progress->news.end());
    clock_.advance(std::chrono::seconds(1));
  }
  EXPECT_THAT(news, ::testing::ElementsAre("drain of node gpu-01 waits: 1 pod left: 1 blocked by "
                                           "disruption budget web-pdb: default/web"));
}

}  // namespace
}  // namespace gpuward::remediator
