#include "remediator/policy/budget_limits.h"

#include <gmock/gmock.h>

namespace gpuward::remediator {
namespace {

struct ShareRow {
  std::size_t nodes;
  int five_percent, ten_percent, half_remaining;
};

// max(1, 5 %), max(1, 10 %), and 50 % that must remain.
TEST(Share, RoundsWhatIsAllowedDownAndWhatMustRemainUp) {
  for (const ShareRow& row :
       {ShareRow{0, 0, 0, 0}, ShareRow{1, 1, 1, 1}, ShareRow{2, 1, 1, 1}, ShareRow{3, 1, 1, 2},
        ShareRow{5, 1, 1, 3}, ShareRow{6, 1, 1, 3}, ShareRow{10, 1, 1, 5}, ShareRow{19, 1, 1, 10},
        ShareRow{20, 1, 2, 10}, ShareRow{39, 1, 3, 20}, ShareRow{40, 2, 4, 20},
        ShareRow{1000, 50, 100, 500}}) {
    EXPECT_EQ(at_most({1, 5}, row.nodes), row.five_percent) << row.nodes;
    EXPECT_EQ(at_most({1, 10}, row.nodes), row.ten_percent) << row.nodes;
    EXPECT_EQ(at_least({0, 50}, row.nodes), row.half_remaining) << row.nodes;
  }
}

TEST(Share, DenominatorOfNoNodesAllowsNothing) { EXPECT_EQ(at_most({7, 100}, 0), 0); }

TEST(Share, KeepsItsNumberIfThePercentageIsLess) {
  EXPECT_EQ(at_most({4, 5}, 20), 4);
  EXPECT_EQ(at_least({4, 5}, 20), 4);
  EXPECT_EQ(at_most({0, 0}, 1000), 0);
}

// In binary 9.2 % of 750 is a little less than 69, and 4.4 % a little more than 33.
TEST(Share, IsExactIfPercentagesAreNotInBinary) {
  for (int percent = 1; percent <= 100; ++percent) {
    for (const std::size_t nodes : {100U, 200U, 1000U, 5000U}) {
      const int exact = percent * static_cast<int>(nodes) / 100;
      EXPECT_EQ(at_most({0, static_cast<double>(percent)}, nodes), exact);
      EXPECT_EQ(at_least({0, static_cast<double>(percent)}, nodes), exact);
    }
  }
  EXPECT_EQ(at_most({0, 9.2}, 750), 69);
  EXPECT_EQ(at_least({0, 4.4}, 750), 33);
}

TEST(BudgetLimits, HaveTheDefaultsThatAreWrittenInTheManual) {
  const BudgetLimits limits;
  EXPECT_EQ(limits.cluster.at_once, (Share{1, 5}));
  EXPECT_EQ(limits.pool.at_once, (Share{1, 10}));
  EXPECT_EQ(limits.zone.at_once, (Share{1, 10}));
  EXPECT_EQ(limits.cordoned, (Share{1, 10}));
  EXPECT_THAT(place_keys(limits).domains,
              ::testing::ElementsAre("topology.kubernetes.io/rack", "nvidia.com/gpu.clique"));
}

}  // namespace
}  // namespace gpuward::remediator
