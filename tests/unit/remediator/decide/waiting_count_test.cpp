#include "remediator/decide/waiting_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remediator/cluster/conditions.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;

WallTime at(int minute) { return WallTime(minutes(minute)); }

Remediation standing(Phase phase, std::string rule, WallTime since) {
  Remediation remediation;
  remediation.created = at(1);
  remediation.status.phase = Phase::kDraining;
  remediation.status = with_conditions(std::move(remediation.status), at(2));
  remediation.status.phase = phase;
  remediation.status.rule = std::move(rule);
  remediation.status = with_conditions(std::move(remediation.status), since);
  return remediation;
}

std::vector<Waiting> count(const std::vector<Remediation>& remediations) {
  WaitingCount count;
  for (const Remediation& one : remediations) count.add(one);
  return count.take();
}

TEST(WaitingCount, SaysByPhaseAndRuleHowManyWaitAndSinceWhen) {
  const auto waiting = count({standing(Phase::kWaiting, "guard.evidence", at(20)),
                              standing(Phase::kWaiting, "guard.evidence", at(10)),
                              standing(Phase::kQuarantined, "budget.cordon", at(30))});

  ASSERT_EQ(waiting.size(), 2U);
  EXPECT_EQ(waiting[0].rule, "budget.cordon");
  EXPECT_EQ(waiting[0].phase, Phase::kQuarantined);
  EXPECT_EQ(waiting[1].rule, "guard.evidence");
  EXPECT_EQ(waiting[1].number, 2U);
  EXPECT_EQ(waiting[1].since, at(10));
}

TEST(WaitingCount, CountsEachOpenPhaseWithoutAStepUnderWay) {
  std::string counted;
  for (const Phase phase :
       {Phase::kPending, Phase::kObserved, Phase::kQuarantined, Phase::kWaiting, Phase::kCollecting,
        Phase::kDraining, Phase::kResetting, Phase::kRebooting, Phase::kTesting,
        Phase::kTerminating, Phase::kVerifying, Phase::kHeld, Phase::kPaused, Phase::kReleased,
        Phase::kEnded, Phase::kReplaced, Phase::kSuperseded, Phase::kCancelled}) {
    for (const Waiting& one : count({standing(phase, "mode", at(5))}))
      counted += std::string(to_string(one.phase)) + " ";
  }
  EXPECT_EQ(counted, "Pending Observed Quarantined Waiting Held Paused ");
}

// Otherwise a Remediation that waits for one reason after another would never seem to wait long.
TEST(WaitingCount, KeepsTheTimeIfTheReasonChanges) {
  Remediation remediation = standing(Phase::kWaiting, "guard.evidence", at(10));
  remediation.status.phase = Phase::kQuarantined;
  remediation.status.rule = "return_to_service";
  remediation.status = with_conditions(std::move(remediation.status), at(50));

  const auto waiting = count({remediation});

  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(waiting[0].rule, "return_to_service");
  EXPECT_EQ(waiting[0].since, at(10));
}

TEST(WaitingCount, TakesTheTimeOfItsMakingIfNothingIsDecidedOrWasKept) {
  Remediation undecided;
  undecided.created = at(7);
  Remediation of_an_older_version = undecided;
  of_an_older_version.status.phase = Phase::kWaiting;
  of_an_older_version.status.rule = "guard.approval";

  const auto waiting = count({undecided, of_an_older_version});

  ASSERT_EQ(waiting.size(), 2U);
  EXPECT_EQ(waiting[0].rule, "guard.approval");
  EXPECT_EQ(waiting[0].since, at(7));
  EXPECT_EQ(waiting[1].rule, "undecided");
  EXPECT_EQ(waiting[1].since, at(7));
}

TEST(WaitingCount, HasABoundedSetOfRulesWhateverRecordsSay) {
  std::vector<Remediation> remediations;
  for (int i = 0; i < 500; ++i) {
    std::string rule = "rule.";
    for (int left = i; left > 0; left /= 20) rule += static_cast<char>('a' + left % 20);
    remediations.push_back(standing(Phase::kWaiting, rule, at(i)));
  }
  remediations.push_back(standing(Phase::kWaiting, "Ünclear\"\n", at(1)));
  remediations.push_back(standing(Phase::kWaiting, std::string(500, 'a'), at(1)));

  const auto waiting = count(remediations);

  EXPECT_LE(waiting.size(), kMostWaitingRules + 1);
  std::size_t number = 0;
  for (const Waiting& one : waiting) number += one.number;
  EXPECT_EQ(number, remediations.size());
}

}  // namespace
}  // namespace gpuward::remediator
