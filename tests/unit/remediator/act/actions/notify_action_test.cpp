#include "remediator/act/actions/notify_action.h"

#include <gmock/gmock.h>

namespace gpuward::remediator {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Result<StepProgress> take_notify(std::vector<std::string> sinks) {
  const Remediation remediation;
  const kube::Node node;
  PlannedStep step = planned(Step::kNotify);
  step.sinks = std::move(sinks);
  return NotifyAction().watch({.remediation = remediation,
                               .node = node,
                               .step = step,
                               .facts = {},
                               .permit = {},
                               .now = {}});
}

TEST(NotifyAction, IsDoneAtOnceAndSaysWhoIsTold) {
  const auto some = take_notify({"oncall", "tickets"});
  EXPECT_EQ(some->result, StepResult::kDone);
  EXPECT_EQ(some->message, "handed over to oncall,tickets");
  EXPECT_THAT(some->facts, UnorderedElementsAre(Pair(kSinksFact, "oncall,tickets")));

  const auto all = take_notify({});
  EXPECT_EQ(all->message, "handed over to all sinks");
  EXPECT_TRUE(all->facts.empty());
}

}  // namespace
}  // namespace gpuward::remediator
