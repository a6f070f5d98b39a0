#include "remediator/cluster/conditions.h"

#include <gmock/gmock.h>

#include "core/runtime/json.h"
#include "remediator/cluster/remediation_json.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;

RemediationStatus in_phase(Phase phase, WallTime now, RemediationStatus before = {}) {
  before.phase = phase;
  return with_conditions(std::move(before), now);
}

TEST(Conditions, SayWhoHasToActOrThatItIsOver) {
  const auto of = [](Phase phase) {
    std::string words;
    for (const auto& [type, condition] : in_phase(phase, {}).conditions) {
      if (condition.holds) words += std::string(to_string(type)) + " ";
    }
    return words;
  };
  EXPECT_EQ(of(Phase::kPending), "Progressing ");
  EXPECT_EQ(of(Phase::kDraining), "Progressing ");
  EXPECT_EQ(of(Phase::kWaiting), "");
  EXPECT_EQ(of(Phase::kHeld), "Held ");
  for (const Phase closed :
       {Phase::kReleased, Phase::kEnded, Phase::kSuperseded, Phase::kCancelled})
    EXPECT_EQ(of(closed), "Closed ");
}

TEST(Conditions, KeepTheTimeOfTheirLastChange) {
  const WallTime first(minutes(1)), second(minutes(2)), third(minutes(3));
  const auto draining = in_phase(Phase::kDraining, first);
  const auto rebooting = in_phase(Phase::kRebooting, second, draining);
  EXPECT_EQ(rebooting.conditions.at(ConditionType::kProgressing).since, first);

  const auto held = in_phase(Phase::kHeld, third, rebooting);

  EXPECT_EQ(held.conditions.at(ConditionType::kProgressing).since, third);
  EXPECT_EQ(held.conditions.at(ConditionType::kHeld).since, third);
  EXPECT_EQ(held.conditions.at(ConditionType::kClosed).since, first);
}

TEST(Conditions, AreWrittenWithPhaseAndMessageAsReason) {
  Remediation remediation;
  remediation.status = in_phase(Phase::kHeld, WallTime(minutes(1)));
  remediation.status.message = "the drain has failed";

  const Json written = (*parse_json(status_write(remediation).body))["status"]["conditions"];

  ASSERT_EQ(written.size(), kAllConditions.size());
  EXPECT_EQ(written[1], (Json{{"type", "Held"},
                              {"status", "True"},
                              {"reason", "Held"},
                              {"message", "the drain has failed"},
                              {"lastTransitionTime", "1970-01-01T00:01:00Z"}}));
}

}  // namespace
}  // namespace gpuward::remediator
