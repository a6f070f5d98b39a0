// The step `drain` over the drainer, on a cluster in memory.
#include "remediator/actions/drain_action.h"

#include "tests/unit/remediator/actions/intended_step.h"
#include "tests/unit/remediator/drain/drain_cluster.h"

namespace gpuward::remediator {
namespace {

class DrainActionTest : public DrainCluster {
 protected:
  DrainActionTest() {
    kube_.create("/api/v1/nodes", fakes::ready_node("gpu-01"));
    node_ = *api_.get_node("gpu-01");
    remediation_.status.steps = {intended_step(Step::kDrain, Severity::kReboot, clock_.wall(), {})};
  }
  StepOrder order() {
    return {.remediation = remediation_,
            .node = node_,
            .step = step_,
            .facts = {},
            .permit = permit_,
            .now = clock_.wall()};
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
  ASSERT_TRUE(action_.begin(order()));
  ASSERT_EQ(evictions(), 1U);  // the rate's burst

  ASSERT_TRUE(action_.abandon(order()));
  clock_.advance(std::chrono::minutes(1));
  (void)evictor_.collect("gpu-01");  // sends what is due

  EXPECT_EQ(evictions(), 1U);
  EXPECT_EQ(drainer_.remembered(), 0U);
}

}  // namespace
}  // namespace gpuward::remediator
