#include "remediator/workflow/status_change.h"

#include <gtest/gtest.h>

namespace gpuward::remediator {
namespace {

const WallTime kQuarantinedAt = WallTime(std::chrono::hours(500'000));

RemediationStatus about_to_return() {
  RemediationStatus status;
  status.phase = Phase::kQuarantined;
  StepRecord back;
  back.step = Step::kReturn;
  status.steps.push_back(back);
  return status;
}

Decision quarantine() {
  Decision decision;
  decision.verdict = Verdict::kQuarantine;
  decision.phase = Phase::kQuarantined;
  decision.steps = {Step::kTaint, Step::kCordon};
  return decision;
}

// Else a human who undoes the quarantine later would be taken for our own return.
TEST(StatusChange, ForgetsAReturnThatANewQuarantineOvertookEvenWhereAllStandsAlready) {
  const auto status = with_results(about_to_return(), quarantine(), Mode::kCordon, kQuarantinedAt);

  EXPECT_EQ(status.find(Step::kReturn), nullptr);
  EXPECT_TRUE(status.has_done(Step::kCordon));
}

TEST(StatusChange, KeepsTheReturnWhileItGoesOn) {
  Decision decision;
  decision.verdict = Verdict::kRelease;
  decision.phase = Phase::kReleased;

  EXPECT_TRUE(with_results(about_to_return(), decision, Mode::kCordon, kQuarantinedAt)
                  .has_done(Step::kReturn));
}

}  // namespace
}  // namespace gpuward::remediator
