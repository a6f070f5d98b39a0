#include "remediator/decide/status_change.h"

#include <gtest/gtest.h>

#include "remediator/act/actions/step_progress.h"

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

// Otherwise a later end of the quarantine by an operator would count as gpuward's own return.
TEST(StatusChange, ForgetsAReturnThatANewQuarantineOvertookEvenIfAllStandsAlready) {
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

Decision begin_of(Step step) {
  Decision decision;
  decision.verdict = Verdict::kBegin;
  decision.step = planned(step);
  return decision;
}

// Otherwise steps done before a diagnostic failed would count as done after it.
TEST(StatusChange, KeepsTheOrderOfStepsIfTheNextLeadersClockIsBehind) {
  using std::chrono::seconds;
  StepProgress done, failed;
  done.result = StepResult::kDone;
  failed.result = StepResult::kFailed;
  const WallTime ahead = kQuarantinedAt + seconds(100);
  auto status = with_begin({}, begin_of(Step::kGpuReset), Severity::kReset, Mode::kFull, {}, ahead);
  status = with_progress(status, begin_of(Step::kGpuReset), done, {}, ahead + seconds(5));
  status = with_begin(status, begin_of(Step::kNcclTest), Severity::kReset, Mode::kFull, {},
                      kQuarantinedAt + seconds(10));
  status =
      with_progress(status, begin_of(Step::kNcclTest), failed, {}, kQuarantinedAt + seconds(20));

  const StepRecord& test = *status.find(Step::kNcclTest);
  EXPECT_GT(test.intent_at, status.find(Step::kGpuReset)->finished_at);
  EXPECT_GT(test.finished_at, test.intent_at);
}

// Otherwise no step would be overdue until all clocks had caught up.
TEST(StatusChange, DoesNotFollowAClockThatWasHoursAhead) {
  auto status = with_begin({}, begin_of(Step::kDrain), Severity::kReset, Mode::kFull, {},
                           kQuarantinedAt + std::chrono::hours(3));
  status = with_begin(status, begin_of(Step::kReboot), Severity::kReset, Mode::kFull, {},
                      kQuarantinedAt);
  EXPECT_EQ(status.find(Step::kReboot)->intent_at, kQuarantinedAt);
}

// The pods left with the first drain, and restart-job learns of them only from the records.
TEST(StatusChange, KeepsTheJobsThatADrainHasTornIfTheNodeIsDrainedOnceMore) {
  Decision decision;
  decision.verdict = Verdict::kBegin;
  decision.step = planned(Step::kDrain);
  const auto first = with_begin({}, decision, Severity::kReset, Mode::kFull,
                                {{kJobsFact, "Job a/train"}}, kQuarantinedAt);

  const auto again = with_begin(first, decision, Severity::kReboot, Mode::kFull, {},
                                kQuarantinedAt + std::chrono::minutes(1));

  const StepRecord* drain = again.find(Step::kDrain);
  ASSERT_NE(drain, nullptr);
  EXPECT_EQ(drain->severity, Severity::kReboot);
  EXPECT_EQ(drain->facts, (Facts{{kJobsFact, "Job a/train"}}));
}

// A verification after the end is about another node.
TEST(StatusChange, ForgetsTheVerificationOfAMachineThatIsToEnd) {
  RemediationStatus status;
  status.steps.resize(1);
  status.steps[0].step = Step::kVerify;
  Decision decision;
  decision.verdict = Verdict::kBegin;
  decision.step = planned(Step::kTerminate);

  const auto ending =
      with_begin(status, decision, Severity::kIsolate, Mode::kFull, {}, kQuarantinedAt);

  EXPECT_EQ(ending.find(Step::kVerify), nullptr);
  EXPECT_NE(ending.find(Step::kTerminate), nullptr);
}

}  // namespace
}  // namespace gpuward::remediator
