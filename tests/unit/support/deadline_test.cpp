#include "tests/support/deadline.h"

#include <gtest/gtest.h>

#include "tests/support/wait.h"

namespace gpuward::support {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(WaitBudget, LetsTheFirstWaitsHaveTheWholeDeadline) {
  WaitBudget budget;
  EXPECT_EQ(budget.limit_of(kGenerous), kGenerous);
  budget.add_failed(kGenerousRequest, kGenerousRequest);
  EXPECT_EQ(budget.limit_of(kGenerous), kGenerous) << "one slow request of a busy machine";
}

TEST(WaitBudget, ShortensWaitsAfterOneThatHasFailed) {
  WaitBudget budget;
  budget.add_failed(kGenerous, kGenerous);
  EXPECT_LT(budget.limit_of(kGenerous), minutes(1));
  EXPECT_LT(budget.limit_of(kGenerousRequest), minutes(1));
}

// ctest ends a program after 20 minutes.
TEST(WaitBudget, LetsAProgramReportThreeHundredFailedWaitsInTime) {
  WaitBudget budget;
  milliseconds all{0};
  for (int i = 0; i < 300; ++i) {
    const milliseconds limit = budget.limit_of(kGenerous);
    all += limit;
    budget.add_failed(kGenerous, limit);
  }
  EXPECT_LT(all, minutes(18));
}

TEST(WaitBudget, LeavesALimitThatATestTests) {
  WaitBudget budget;
  budget.add_failed(seconds(2), seconds(2));
  EXPECT_EQ(budget.limit_of(kGenerous), kGenerous) << "such a wait may be meant to end so";
  budget.add_failed(kGenerous, kGenerous);
  EXPECT_EQ(budget.limit_of(seconds(30)), seconds(30));
}

TEST(Deadline, HasPassedAfterItsLimit) {
  EXPECT_TRUE(Deadline(milliseconds(0)).has_passed());
  EXPECT_FALSE(Deadline(kGenerous).has_passed());
  EXPECT_GT(Deadline(kGenerous).left(), seconds(0));
}

TEST(Deadline, TakesWhatHasFailedFromTheBudget) {
  WaitBudget budget;
  budget.add_failed(kGenerous, kGenerous - milliseconds(1));
  const Deadline deadline(kGenerous, budget);
  ASSERT_EQ(deadline.limit(), kGenerous);

  EXPECT_FALSE(poll_until([&] { return budget.limit_of(kGenerous) < kGenerous; },
                          Deadline(milliseconds(20), budget)));
  EXPECT_EQ(Deadline(kGenerous, budget).limit(), kGenerous) << "a short wait counts for nothing";
  deadline.fail();

  EXPECT_LT(Deadline(kGenerous, budget).limit(), kGenerous);
}

}  // namespace
}  // namespace gpuward::support
