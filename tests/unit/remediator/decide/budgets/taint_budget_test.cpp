// The budget of taints: how many nodes of a pool and of the cluster may be tainted, and which come
// first if not all may.
#include <gmock/gmock.h>

#include "remediator/decide/budgets/breaker.h"
#include "remediator/decide/budgets/budgets.h"
#include "remediator/decide/budgets/storm.h"
#include "tests/unit/remediator/decide/budgets/fleets.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;

constexpr Impact kTaint = Impact::kTaint;

BudgetLimits only_taints(Share share) {
  BudgetLimits limits = without_limits();
  limits.tainted = share;
  limits.storm.share = {1000, 0};
  return limits;
}

// Makes the node unhealthy and refused once.
void let_wait(Fleet& fleet, int n, Severity severity, bool confirmed = false) {
  FleetNode& node = fleet.nodes[uid_of(n)];
  node.severity = severity;
  node.waits_for_taint = true;
  node.confirmed = confirmed;
}

struct TaintRow {
  int nodes, tainted;
};

TEST(TaintBudget, IsAFifthOfTheClusterAndTwoAtLeast) {
  for (const TaintRow& row : {TaintRow{1, 1}, TaintRow{2, 2}, TaintRow{3, 2}, TaintRow{14, 2},
                              TaintRow{15, 3}, TaintRow{288, 57}}) {
    const Fleet fleet = fleet_of(row.nodes);
    Ledger ledger;
    int given = 0;
    for (; given < row.nodes; ++given) {
      if (refuse_slot(ledger, fleet, {}, request_for(given, kTaint), kToday)) break;
      ledger = with_taken(ledger, fleet, given, kTaint);
    }
    EXPECT_EQ(given, row.tainted) << row.nodes;
  }
}

SlotRequest tainted(SlotRequest request) {
  request.is_tainted = true;
  return request;
}

TEST(TaintBudget, BoundsEachPoolAndTheCluster) {
  Fleet fleet = fleet_of(40);
  for (int n = 0; n < 40; ++n) fleet.nodes[uid_of(n)].place.pool = n < 10 ? "a" : "b";
  Ledger ledger = with_taken({}, fleet, 0, kTaint);
  ledger = with_taken(ledger, fleet, 1, kTaint);
  EXPECT_EQ(guard_of(ledger, fleet, {}, request_for(2, kTaint)), "budget.taint");  // 2 of 10
  for (int n = 10; n < 16; ++n) ledger = with_taken(ledger, fleet, n, kTaint);
  const auto refused = refuse_slot(ledger, fleet, {}, request_for(3, kTaint), kToday);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->message, "pool a (10 nodes): 2 of 2 allowed are tainted");
}

TEST(TaintBudget, BoundsTheClusterIfNoPoolIsSpent) {
  Fleet fleet = fleet_of(10);
  for (int n = 0; n < 10; ++n) fleet.nodes[uid_of(n)].place.pool = "p" + std::to_string(n);
  Ledger ledger = with_taken({}, fleet, 0, kTaint);
  EXPECT_EQ(guard_of(ledger, fleet, {}, request_for(1, kTaint)), "");
  ledger = with_taken(ledger, fleet, 1, kTaint);
  const auto refused = refuse_slot(ledger, fleet, {}, request_for(2, kTaint), kToday);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->message, "the cluster (10 nodes): 2 of 2 allowed are tainted");
}

TEST(TaintBudget, CountsWhatBearsOurTaintWithoutASlot) {
  Fleet fleet = fleet_of(10);
  fleet.nodes[uid_of(0)].tainted = fleet.nodes[uid_of(1)].tainted = true;
  EXPECT_EQ(guard_of({}, fleet, {}, request_for(2, kTaint)), "budget.taint");
  EXPECT_EQ(guard_of({}, fleet, {}, request_for(2, Impact::kCordon)), "budget.taint");
}

TEST(TaintBudget, NeverRefusesATaintThatIsPutOnOnceMore) {
  Fleet fleet = fleet_of(10);
  const BudgetLimits none = only_taints({0, 0});
  EXPECT_EQ(guard_of({}, fleet, none, request_for(0, kTaint)), "budget.taint");
  EXPECT_EQ(guard_of(with_taken({}, fleet, 0, kTaint), fleet, none, request_for(0, kTaint)), "");
  fleet.nodes[uid_of(1)].tainted = true;
  EXPECT_EQ(guard_of({}, fleet, none, request_for(1, kTaint)), "budget.taint")
      << "it may be gone by now";
  EXPECT_EQ(guard_of({}, fleet, none, tainted(request_for(1, kTaint))), "");
}

TEST(TaintBudget, IsNotSpentTwiceByTheCordonOfTheSameNode) {
  const Fleet fleet = fleet_of(10);
  Ledger ledger = with_taken({}, fleet, 0, kTaint);
  ledger = with_taken(ledger, fleet, 1, kTaint);
  BudgetLimits limits = only_taints({2, 0});
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(0, Impact::kCordon)), "");
  ledger = with_taken(ledger, fleet, 0, Impact::kCordon);
  EXPECT_THAT(ledger.taints, ::testing::SizeIs(1));
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(2, kTaint)), "budget.taint");
}

TEST(TaintBudget, TheBreakerStopsNoTaint) {
  const Ledger open = open_breaker({}, "too many", kToday);
  EXPECT_EQ(guard_of(open, fleet_of(10), {}, request_for(0, kTaint)), "");
  EXPECT_EQ(guard_of(open, fleet_of(10), {}, request_for(0, Impact::kCordon)), "budget.breaker");
}

TEST(TaintBudget, AStormStopsTaintsInsteadOfSpendingThem) {
  Fleet fleet = fleet_of(100);
  for (auto& [uid, node] : fleet.nodes) node.alerts = {{"GpuEcc", kToday, Severity::kReboot}};
  const auto refused = refuse_slot({}, fleet, {}, request_for(0, kTaint), kToday);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->guard, "budget.storm");
  EXPECT_THAT(refused->message, HasSubstr("GpuEcc fired on 100 nodes"));
  fleet.nodes[uid_of(1)].tainted = true;  // before the storm began
  EXPECT_EQ(guard_of({}, fleet, {}, tainted(request_for(1, kTaint))), "");
}

TEST(TaintBudget, AFindingOfItsOwnTakesANodeOutOfAStorm) {
  Fleet fleet = fleet_of(100);
  for (auto& [uid, node] : fleet.nodes) node.alerts = {{"GpuEcc", kToday, Severity::kReboot}};
  fleet.nodes[uid_of(0)].alerts.push_back({"GpuLost", kToday, Severity::kReset});
  fleet.nodes[uid_of(1)].alerts.push_back({"GpuWarm", kToday, Severity::kMonitor});
  EXPECT_EQ(guard_of({}, fleet, {}, request_for(0, kTaint)), "");
  EXPECT_EQ(guard_of({}, fleet, {}, request_for(0, Impact::kCordon)), "budget.storm");
  EXPECT_EQ(guard_of({}, fleet, {}, request_for(1, kTaint)), "budget.storm");
}

TEST(TaintBudget, GivesTheLastRoomToTheWorst) {
  Fleet fleet = fleet_of(10);
  const Ledger ledger = with_taken({}, fleet, 0, kTaint);
  const BudgetLimits limits = only_taints({2, 0});
  let_wait(fleet, 1, Severity::kReset);
  let_wait(fleet, 2, Severity::kIsolate);
  let_wait(fleet, 3, Severity::kReset);
  const auto refused = refuse_slot(ledger, fleet, limits, request_for(1, kTaint), kToday);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->guard, "budget.taint");
  EXPECT_THAT(refused->message, HasSubstr("1 node with worse or confirmed findings comes first"));
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(2, kTaint)), "");
}

TEST(TaintBudget, GivesTheLastRoomToTheConfirmedOfThoseThatAreAsBad) {
  Fleet fleet = fleet_of(10);
  const Ledger ledger = with_taken({}, fleet, 0, kTaint);
  const BudgetLimits limits = only_taints({2, 0});
  let_wait(fleet, 1, Severity::kReboot);
  let_wait(fleet, 2, Severity::kReboot, true);
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(1, kTaint)), "budget.taint");
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(2, kTaint)), "");
}

TEST(TaintBudget, LeavesRoomForNobodyThatCannotUseIt) {
  Fleet fleet = fleet_of(20);
  for (int n = 0; n < 20; ++n) fleet.nodes[uid_of(n)].place.pool = n < 10 ? "a" : "b";
  Ledger ledger = with_taken({}, fleet, 0, kTaint);
  ledger = with_taken(ledger, fleet, 1, kTaint);
  ledger = with_taken(ledger, fleet, 10, kTaint);
  BudgetLimits limits = only_taints({0, 20});
  let_wait(fleet, 2, Severity::kIsolate);  // its pool has no slot left
  let_wait(fleet, 11, Severity::kReset);
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(11, kTaint)), "");
  // A node that already has its slot needs no room either.
  ledger = without_slot(ledger, remediation_of(1));
  ledger = with_taken(ledger, fleet, 2, kTaint);
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(11, kTaint)), "");
}

TEST(TaintBudget, RefusesANodeThatIsNotInTheCensus) {
  EXPECT_EQ(guard_of({}, fleet_of(3), {}, request_for(7, kTaint)), "budget.census");
  EXPECT_EQ(guard_of({}, Fleet(), {}, request_for(0, kTaint)), "budget.census");
}

TEST(TaintBudget, RefusesIfTheLedgerIsFull) {
  Ledger full;
  full.taints.resize(kMaxTaints);
  EXPECT_EQ(guard_of(full, fleet_of(3), without_limits(), request_for(0, kTaint)), "budget.ledger");
}

}  // namespace
}  // namespace gpuward::remediator
