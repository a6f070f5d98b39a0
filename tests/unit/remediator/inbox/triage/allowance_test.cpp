#include "remediator/inbox/triage/allowance.h"

#include <gtest/gtest.h>

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class TriageAllowanceTest : public ::testing::Test {
 protected:
  TriageAllowanceTest() { allowance_.set_limits(3, 1'000); }
  Permission spend(std::size_t characters) { return allowance_.spend(characters, now_); }
  void fail(int times) {
    for (int i = 0; i < times; ++i) allowance_.failed(now_);
  }
  TriageAllowance allowance_;
  TriageAllowance::Time now_{hours(1'000)};
};

TEST_F(TriageAllowanceTest, LetsSoManyThroughInAnyHour) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(spend(10), Permission::kYes);
  now_ += minutes(59);
  EXPECT_EQ(spend(10), Permission::kOverLimit);
  now_ += minutes(1);
  EXPECT_EQ(spend(10), Permission::kYes);
}

TEST_F(TriageAllowanceTest, LetsSoManyCharactersThroughInAnyDay) {
  EXPECT_EQ(spend(600), Permission::kYes);
  EXPECT_EQ(spend(401), Permission::kOverLimit);
  EXPECT_EQ(spend(400), Permission::kYes);
  now_ += hours(23);
  EXPECT_EQ(spend(1), Permission::kOverLimit);
  now_ += hours(1);
  EXPECT_EQ(spend(1'000), Permission::kYes);
}

TEST_F(TriageAllowanceTest, AsksNobodyForAWhileAfterThreeFailures) {
  fail(2);
  EXPECT_EQ(spend(1), Permission::kYes);
  fail(1);
  EXPECT_EQ(spend(1), Permission::kBreakerOpen);
  now_ += minutes(1);
  EXPECT_EQ(spend(1), Permission::kYes);
  fail(1);
  now_ += minutes(1);
  EXPECT_EQ(spend(1), Permission::kBreakerOpen) << "longer each time";
}

TEST_F(TriageAllowanceTest, PausesForHalfAnHourAtMost) {
  fail(1'000);
  now_ += minutes(30);
  EXPECT_EQ(spend(1), Permission::kYes);
}

TEST_F(TriageAllowanceTest, CountsFailuresInARowOnly) {
  for (int i = 0; i < 10; ++i) {
    fail(2);
    allowance_.succeeded();
  }
  EXPECT_EQ(spend(1), Permission::kYes);
}

}  // namespace
}  // namespace gpuward::remediator
