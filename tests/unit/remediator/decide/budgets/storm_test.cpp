#include "remediator/decide/budgets/storm.h"

#include <gmock/gmock.h>

#include "tests/unit/remediator/decide/budgets/fleets.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;

// `hit` of `nodes` get an alert with the code, one every `apart`.
Fleet fleet_hit(int nodes, int hit, minutes apart, const std::string& code = "Xid79") {
  Fleet fleet = fleet_of(nodes);
  for (int n = 0; n < hit; ++n) fleet.nodes[uid_of(n)].alerts.push_back({code, kToday + apart * n});
  return fleet;
}

TEST(Storm, IsTheSameCodeOnThreeNodesWithinTenMinutes) {
  const BudgetLimits limits;
  EXPECT_FALSE(storm_of(fleet_hit(10, 2, minutes(0)), limits, "Xid79"));
  const auto storm = storm_of(fleet_hit(10, 3, minutes(5)), limits, "Xid79");
  ASSERT_TRUE(storm);
  EXPECT_EQ(storm->nodes, 3);
  EXPECT_EQ(storm->trigger, 3);
  EXPECT_FALSE(storm_of(fleet_hit(10, 3, minutes(6)), limits, "Xid79"));
  EXPECT_FALSE(storm_of(fleet_hit(10, 3, -minutes(6)), limits, "Xid79"));
}

TEST(Storm, IsATenthOfALargeCluster) {
  EXPECT_FALSE(storm_of(fleet_hit(1000, 99, minutes(0)), {}, "Xid79"));
  EXPECT_TRUE(storm_of(fleet_hit(1000, 100, minutes(0)), {}, "Xid79"));
  EXPECT_FALSE(storm_of(fleet_hit(39, 2, minutes(0)), {}, "Xid79"));
  EXPECT_TRUE(storm_of(fleet_hit(39, 3, minutes(0)), {}, "Xid79"));
}

TEST(Storm, IsNoneOfManyCodes) {
  Fleet fleet = fleet_of(10);
  for (int n = 0; n < 10; ++n)
    fleet.nodes[uid_of(n)].alerts.push_back({"code" + std::to_string(n), kToday});
  EXPECT_FALSE(storm_over(fleet, {}, uid_of(0)));
}

TEST(Storm, IsNoneOfManyAlertsOnOneNode) {
  Fleet fleet = fleet_of(10);
  for (int gpu = 0; gpu < 8; ++gpu)
    fleet.nodes[uid_of(0)].alerts.push_back({"Xid79", kToday + minutes(gpu)});
  EXPECT_FALSE(storm_over(fleet, {}, uid_of(0)));
}

TEST(Storm, SeesTheNodesThatCameTogetherAmongOlderOnes) {
  Fleet fleet = fleet_hit(10, 2, minutes(0));
  fleet.nodes[uid_of(1)].alerts.insert(fleet.nodes[uid_of(1)].alerts.begin(),
                                       {"Xid79", kToday - std::chrono::hours(3)});
  EXPECT_FALSE(storm_of(fleet, {}, "Xid79"));
  fleet.nodes[uid_of(2)].alerts.push_back({"Xid79", kToday + minutes(9)});
  EXPECT_TRUE(storm_of(fleet, {}, "Xid79"));
}

TEST(Storm, CountsANodeWhoseFirstAlertHasLeftTheWindow) {
  Fleet fleet = fleet_of(10);
  fleet.nodes[uid_of(0)].alerts = {{"Xid79", kToday}, {"Xid79", kToday + minutes(9)}};
  fleet.nodes[uid_of(1)].alerts = {{"Xid79", kToday + minutes(11)}};
  fleet.nodes[uid_of(2)].alerts = {{"Xid79", kToday + minutes(12)}};
  EXPECT_TRUE(storm_of(fleet, {}, "Xid79"));
}

TEST(Storm, IsOverEveryNodeWithTheCodeAndNoOther) {
  Fleet fleet = fleet_hit(10, 3, minutes(0));
  fleet.nodes[uid_of(8)].alerts = {{"other", kToday}, {"Xid79", kToday + std::chrono::hours(5)}};
  fleet.nodes[uid_of(9)].alerts = {{"other", kToday}};
  EXPECT_TRUE(storm_over(fleet, {}, uid_of(0)));
  EXPECT_TRUE(storm_over(fleet, {}, uid_of(8)));
  EXPECT_FALSE(storm_over(fleet, {}, uid_of(9)));
  EXPECT_FALSE(storm_over(fleet, {}, "nobody"));
}

}  // namespace
}  // namespace gpuward::remediator
