#include "remediator/decide/budgets/budgets.h"

#include <gmock/gmock.h>

#include "remediator/decide/budgets/breaker.h"
#include "tests/unit/remediator/decide/budgets/fleets.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::HasSubstr;

// Takes one slot after the other until one is refused, and returns how many it took.
int slots_given(const Fleet& fleet, const BudgetLimits& limits, Impact impact) {
  Ledger ledger;
  int given = 0;
  for (; given < static_cast<int>(fleet.nodes.size()); ++given) {
    if (refuse_slot(ledger, fleet, limits, request_for(given, impact), kToday)) break;
    ledger = with_taken(ledger, fleet, given, impact);
  }
  return given;
}

TEST(Budgets, GiveTheFirstSlotOfAHealthyCluster) {
  EXPECT_EQ(guard_of({}, fleet_of(10), {}, request_for(0, Impact::kCordon)), "");
  EXPECT_EQ(guard_of({}, fleet_of(10), {}, request_for(0, Impact::kTerminate)), "");
}

TEST(Budgets, RefuseIfNoNodesAreKnown) {
  for (const Impact impact : {Impact::kCordon, Impact::kDisrupt, Impact::kTerminate})
    EXPECT_EQ(guard_of({}, Fleet(), without_limits(), request_for(0, impact)), "budget.census");
}

TEST(Budgets, RefuseIfNoNodesAreKnownEvenToHimWhoHoldsASlot) {
  const Ledger ledger = with_taken({}, fleet_of(3), 0, Impact::kDisrupt);
  EXPECT_EQ(guard_of(ledger, Fleet(), without_limits(), request_for(0, Impact::kDisrupt)),
            "budget.census");
}

TEST(Budgets, RefuseANodeThatIsNotInTheCensus) {
  EXPECT_EQ(guard_of({}, fleet_of(3), {}, request_for(7, Impact::kCordon)), "budget.census");
}

TEST(Budgets, LetANodeThatHasLeftTheCensusFinishWhatItHasASlotFor) {
  Fleet fleet = fleet_of(30);
  const Ledger ledger = with_taken({}, fleet, 0, Impact::kDisrupt);
  fleet.nodes.erase(uid_of(0));
  EXPECT_EQ(guard_of(ledger, fleet, {}, request_for(0, Impact::kTerminate)), "");
  EXPECT_EQ(slot_for(ledger, fleet, request_for(0, Impact::kTerminate), kToday).place.pool, "p");
  EXPECT_EQ(guard_of(ledger, fleet, {}, request_for(1, Impact::kDisrupt)), "budget.cluster");
}

struct ClusterRow {
  int nodes, disrupted, cordoned;
};

TEST(Budgets, DisruptFivePercentAndCordonTenPercentButOneAtLeast) {
  for (const ClusterRow& row :
       {ClusterRow{1, 1, 1}, ClusterRow{2, 1, 1}, ClusterRow{3, 1, 1}, ClusterRow{5, 1, 1},
        ClusterRow{6, 1, 1}, ClusterRow{10, 1, 1}, ClusterRow{39, 1, 3}, ClusterRow{40, 2, 4},
        ClusterRow{1000, 50, 100}}) {
    const Fleet fleet = fleet_of(row.nodes);
    EXPECT_EQ(slots_given(fleet, {}, Impact::kDisrupt), row.disrupted) << row.nodes;
    EXPECT_EQ(slots_given(fleet, {}, Impact::kCordon), row.cordoned) << row.nodes;
  }
}

TEST(Budgets, SayWhoseLimitItIsAndTheNumbers) {
  const Fleet fleet = fleet_of(39);
  const Ledger ledger = with_taken({}, fleet, 0, Impact::kDisrupt);
  const auto refused = refuse_slot(ledger, fleet, {}, request_for(1, Impact::kDisrupt), kToday);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->guard, "budget.cluster");
  EXPECT_EQ(refused->message, "the cluster (39 nodes): 1 of 1 allowed are being worked on");
  EXPECT_FALSE(refused->retry_after);
}

// `move` puts each half of the nodes into a place of its own. One node of the first half holds a
// slot.
void expect_own_limit(const BudgetLimits& limits, const std::string& guard,
                      const std::function<void(Place&, bool)>& move) {
  Fleet fleet = fleet_of(20);
  for (int n = 0; n < 20; ++n) move(fleet.nodes[uid_of(n)].place, n < 10);
  const Ledger ledger = with_taken({}, fleet, 0, Impact::kDisrupt);
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(1, Impact::kDisrupt)), guard);
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(10, Impact::kDisrupt)), "");
}

TEST(Budgets, LimitEachPoolByItself) {
  BudgetLimits limits = without_limits();
  limits.pool.at_once = {1, 10};
  expect_own_limit(limits, "budget.pool",
                   [](Place& place, bool first) { place.pool = first ? "a" : "b"; });
}

TEST(Budgets, LimitEachZoneByItself) {
  BudgetLimits limits = without_limits();
  limits.zone.at_once = {1, 10};
  expect_own_limit(limits, "budget.zone",
                   [](Place& place, bool first) { place.zone = first ? "a" : "b"; });
}

TEST(Budgets, LimitEachRackAndNvlinkDomainToOneNode) {
  for (const LabelLimit& label : BudgetLimits().labels) {
    BudgetLimits limits = without_limits();
    limits.labels = {label};
    expect_own_limit(limits, "budget.label", [&](Place& place, bool first) {
      place.domains[label.label] = first ? "a" : "b";
    });
  }
}

TEST(Budgets, LimitNoRackIfNoneIsNamed) {
  BudgetLimits limits = without_limits();
  limits.labels = BudgetLimits().labels;
  const Fleet fleet = fleet_of(4);
  const Ledger ledger = with_taken({}, fleet, 0, Impact::kDisrupt);
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(1, Impact::kDisrupt)), "");
}

// The other pools keep the limits that all pools have.
TEST(Budgets, AreThoseOfItsOwnInAPoolThatHasAny) {
  BudgetLimits limits = without_limits();
  limits.pool.at_once = limits.cordoned = {1, 0};
  limits.own_pools = {
      {{"own", {}}, PoolLimits{.disrupted = {{2, 0}}, .cordoned = {3, 0}, .min_healthy = {3, 0}}}};
  Fleet fleet = fleet_of(8);
  for (int n = 0; n < 6; ++n) fleet.nodes[uid_of(n)].place.pool = "own";

  Ledger ledger = with_taken({}, fleet, 0, Impact::kDisrupt);
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(1, Impact::kDisrupt)), "");
  ledger = with_taken(ledger, fleet, 1, Impact::kDisrupt);
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(2, Impact::kDisrupt)), "budget.pool");
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(2, Impact::kCordon)), "");
  ledger = with_taken(ledger, fleet, 2, Impact::kCordon);
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(3, Impact::kCordon)), "budget.cordon");
  limits.own_pools[0].limits->cordoned = {6, 0};
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(3, Impact::kCordon)), "budget.min-healthy");

  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(6, Impact::kDisrupt)), "");
  ledger = with_taken(ledger, fleet, 6, Impact::kDisrupt);
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(7, Impact::kDisrupt)), "budget.cordon");
  const auto uses = budget_uses(ledger, fleet, limits, kToday);
  const auto own = std::ranges::find_if(uses, [](const BudgetUse& use) {
    return use.guard == "budget.pool" && use.where == "pool own";
  });
  ASSERT_NE(own, uses.end());
  EXPECT_EQ(own->used, 2);
  EXPECT_EQ(own->allowed, 2);
}

TEST(Budgets, CountANodeWhereItStoodAndWhereItStands) {
  BudgetLimits limits = without_limits();
  limits.pool.at_once = {1, 0};
  Fleet fleet = fleet_of(3);
  const Ledger ledger = with_taken({}, fleet, 0, Impact::kDisrupt);
  fleet.nodes[uid_of(0)].place.pool = fleet.nodes[uid_of(2)].place.pool = "other";
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(1, Impact::kDisrupt)), "budget.pool");
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(2, Impact::kDisrupt)), "budget.pool");
}

TEST(Budgets, CountCordonsOfAPoolBesideDisruptions) {
  BudgetLimits limits = without_limits();
  limits.cordoned = {1, 0};
  Fleet fleet = fleet_of(4);
  fleet.nodes[uid_of(3)].place.pool = "other";
  for (const Impact held : {Impact::kCordon, Impact::kDisrupt}) {
    const Ledger ledger = with_taken({}, fleet, 0, held);
    for (const Impact wanted : {Impact::kCordon, Impact::kDisrupt}) {
      EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(1, wanted)), "budget.cordon");
      EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(3, wanted)), "");
    }
  }
}

TEST(Budgets, DoNotCountACordonAsADisruption) {
  const Fleet fleet = fleet_of(20);
  const Ledger ledger = with_taken({}, fleet, 0, Impact::kCordon);
  EXPECT_EQ(guard_of(ledger, fleet, {}, request_for(1, Impact::kDisrupt)), "");
}

TEST(Budgets, DoNotCountWhatTheOneWhoAsksHoldsHimself) {
  const Fleet fleet = fleet_of(1);
  Ledger ledger = with_taken({}, fleet, 0, Impact::kCordon);
  EXPECT_EQ(guard_of(ledger, fleet, {}, request_for(0, Impact::kCordon)), "");
  EXPECT_EQ(guard_of(ledger, fleet, {}, request_for(0, Impact::kDisrupt)), "");
  ledger = with_taken(ledger, fleet, 0, Impact::kTerminate);
  EXPECT_EQ(guard_of(ledger, fleet, {}, request_for(0, Impact::kDisrupt)), "");
}

TEST(Budgets, LetHimGoOnWhoHoldsASlotAlthoughTheLimitWasLowered) {
  BudgetLimits limits = without_limits();
  limits.cluster.at_once = {1, 0};
  const Fleet fleet = fleet_of(3);
  Ledger ledger = with_taken({}, fleet, 0, Impact::kDisrupt);
  ledger = with_taken(ledger, fleet, 1, Impact::kDisrupt);
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(0, Impact::kDisrupt)), "");
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(0, Impact::kTerminate)), "budget.cluster");
}

TEST(Budgets, CountANodeOnceWhateverItsRemediations) {
  BudgetLimits limits = without_limits();
  limits.cluster.at_once = {1, 0};
  const Fleet fleet = fleet_of(3);
  Ledger ledger = with_taken({}, fleet, 0, Impact::kDisrupt);
  SlotRequest again = request_for(0, Impact::kDisrupt);
  again.remediation = "r0-2";
  EXPECT_EQ(guard_of(ledger, fleet, limits, again), "");
  ledger = with_slot(ledger, slot_for(ledger, fleet, again, kToday));
  limits.cluster.at_once = {2, 0};
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(1, Impact::kDisrupt)), "");
}

TEST(Budgets, GiveTheSlotAgainOnceItWasGivenBack) {
  const Fleet fleet = fleet_of(10);
  const Ledger ledger = with_taken({}, fleet, 0, Impact::kDisrupt);
  EXPECT_EQ(guard_of(ledger, fleet, {}, request_for(1, Impact::kDisrupt)), "budget.cordon");
  EXPECT_EQ(guard_of(without_slot(ledger, "r0"), fleet, {}, request_for(1, Impact::kDisrupt)), "");
}

// Terminates one node after the other and returns each slot at once; says when the next may start.
class Terminations : public ::testing::Test {
 protected:
  void terminate(int n, WallTime at) {
    ledger_ =
        without_slot(with_taken(ledger_, fleet_, n, Impact::kTerminate, at), remediation_of(n));
  }
  [[nodiscard]] std::optional<Refusal> next(WallTime now) const {
    return refuse_slot(ledger_, fleet_, limits_, request_for(99, Impact::kTerminate), now);
  }
  Fleet fleet_ = fleet_of(100);
  BudgetLimits limits_;
  Ledger ledger_;
};

TEST_F(Terminations, AreTwoAnHour) {
  terminate(0, kToday);
  EXPECT_FALSE(next(kToday + minutes(10)));
  terminate(1, kToday + minutes(10));
  const auto refused = next(kToday + minutes(20));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->guard, "budget.terminate");
  EXPECT_THAT(refused->message, HasSubstr("2 of 2 allowed terminations were started within 1h"));
  EXPECT_EQ(refused->retry_after, minutes(40));
  EXPECT_TRUE(next(kToday + minutes(59)));
  EXPECT_FALSE(next(kToday + minutes(60)));
}

TEST_F(Terminations, AreFiveADay) {
  for (int n = 0; n < 5; ++n) terminate(n, kToday + hours(n));
  EXPECT_EQ(next(kToday + hours(10))->retry_after, hours(14));
  EXPECT_FALSE(next(kToday + hours(24)));
}

TEST_F(Terminations, AreAgainPossibleOnceSoManyHaveLeftALoweredWindow) {
  for (int n = 0; n < 3; ++n) terminate(n, kToday + minutes(10 * n));
  const auto refused = next(kToday + minutes(30));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->retry_after, minutes(40));
}

TEST_F(Terminations, BindNoDisruptions) {
  terminate(0, kToday);
  terminate(1, kToday);
  EXPECT_EQ(guard_of(ledger_, fleet_, limits_, request_for(2, Impact::kDisrupt)), "");
}

TEST_F(Terminations, AreNotFreedByDeletingRemediations) {
  terminate(0, kToday);
  terminate(1, kToday);
  // The ledger keeps only the starts of r0 and r1: there is no Remediation to delete.
  EXPECT_TRUE(ledger_.slots.empty());
  EXPECT_TRUE(next(kToday + minutes(1)));
}

TEST_F(Terminations, AreCountedByADisruptionOnlyIfItGoesOnToThem) {
  ledger_ = with_taken(ledger_, fleet_, 0, Impact::kDisrupt);
  ledger_ = with_taken(ledger_, fleet_, 1, Impact::kDisrupt);
  EXPECT_FALSE(next(kToday));
  ledger_ = with_taken(ledger_, fleet_, 0, Impact::kTerminate);
  ledger_ = with_taken(ledger_, fleet_, 1, Impact::kTerminate);
  EXPECT_TRUE(next(kToday));
}

TEST_F(Terminations, CountStillAfterTheClockWentBack) {
  terminate(0, kToday);
  terminate(1, kToday);
  EXPECT_TRUE(next(kToday - hours(30)));
  EXPECT_EQ(next(kToday - hours(30))->retry_after, hours(31));
}

TEST_F(Terminations, CountAgainOnceAClockThatWentForwardCameBack) {
  terminate(0, kToday);
  terminate(1, kToday);
  EXPECT_FALSE(next(kToday + hours(24 * 7)));
  terminate(2, kToday + hours(24 * 7));
  ledger_.starts.pop_back();
  EXPECT_TRUE(next(kToday + minutes(1)));
}

TEST(Budgets, LimitWhatIsBegunInAWindowInEachScope) {
  const auto windowed = [](auto member) {
    BudgetLimits limits = without_limits();
    (limits.*member).windows = {{{2, 0}, hours(24)}};
    return limits;
  };
  BudgetLimits by_label = without_limits();
  by_label.labels = {{"rack", {{0, 100}, {{{2, 0}, hours(24)}}}}};
  Fleet fleet = fleet_of(4);
  for (auto& [uid, node] : fleet.nodes) node.place.domains["rack"] = "a";
  Ledger ledger = with_taken({}, fleet, 0, Impact::kDisrupt);
  ledger = without_slot(with_taken(ledger, fleet, 1, Impact::kDisrupt, kToday + hours(1)), "r1");
  ledger = with_taken(ledger, fleet, 3, Impact::kCordon);
  for (const BudgetLimits& limits :
       {windowed(&BudgetLimits::cluster), windowed(&BudgetLimits::pool),
        windowed(&BudgetLimits::zone), by_label}) {
    const auto refused =
        refuse_slot(ledger, fleet, limits, request_for(2, Impact::kDisrupt), kToday + hours(2));
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->guard, "budget.window");
    EXPECT_EQ(refused->retry_after, hours(22));
    EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(2, Impact::kCordon)), "");
    EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(0, Impact::kTerminate)), "");
  }
}

TEST(Budgets, CountInTheWindowOfAPoolWhatWasBegunThere) {
  BudgetLimits limits = without_limits();
  limits.pool.windows = {{{1, 0}, hours(24)}};
  Fleet fleet = fleet_of(3);
  fleet.nodes[uid_of(2)].place.pool = "other";
  const Ledger ledger = with_taken({}, fleet, 0, Impact::kDisrupt);
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(1, Impact::kDisrupt)), "budget.window");
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(2, Impact::kDisrupt)), "");
}

TEST(Budgets, CountARemediationFromItsLastStartOn) {
  BudgetLimits limits = without_limits();
  limits.cluster.windows = {{{1, 0}, hours(24)}};
  const Fleet fleet = fleet_of(2);
  Ledger ledger = with_taken({}, fleet, 0, Impact::kDisrupt);
  ledger = with_taken(ledger, fleet, 0, Impact::kTerminate, kToday + hours(2));
  const auto refused =
      refuse_slot(ledger, fleet, limits, request_for(1, Impact::kDisrupt), kToday + hours(3));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->retry_after, hours(23));
}

TEST(Budgets, NeverBeginIfAWindowAllowsNothing) {
  BudgetLimits limits = without_limits();
  limits.terminations = {{{0, 0}, hours(1)}};
  const auto refused =
      refuse_slot({}, fleet_of(4), limits, request_for(0, Impact::kTerminate), kToday);
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->retry_after);
}

TEST(Budgets, KeepAPoolAtItsMinimumOfHealthyNodes) {
  BudgetLimits limits = without_limits();
  limits.min_healthy = {0, 50};
  Fleet fleet = fleet_of(4);
  EXPECT_EQ(guard_of({}, fleet, limits, request_for(0, Impact::kCordon)), "");
  fleet.nodes[uid_of(1)].ready = false;
  EXPECT_EQ(guard_of({}, fleet, limits, request_for(0, Impact::kCordon)), "");
  fleet.nodes[uid_of(2)].schedulable = false;
  EXPECT_EQ(guard_of({}, fleet, limits, request_for(0, Impact::kCordon)), "budget.min-healthy");
}

// The node is held without a replacement. Its Node is gone, but its slot is still taken.
TEST(Budgets, CountAMachineThatIsGoneAsMissingCapacity) {
  BudgetLimits limits = without_limits();
  limits.min_healthy = {0, 60};
  Fleet fleet = fleet_of(4);
  const Ledger ledger = with_taken({}, fleet, 0, Impact::kTerminate);
  fleet.nodes.erase(uid_of(0));
  EXPECT_EQ(guard_of({}, fleet_of(4), limits, request_for(1, Impact::kCordon)), "");
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(1, Impact::kCordon)), "budget.min-healthy");

  limits = without_limits();
  limits.pool.at_once = {1, 0};
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(1, Impact::kDisrupt)), "budget.pool");
  EXPECT_EQ(guard_of(without_slot(ledger, remediation_of(0)), fleet, limits,
                     request_for(1, Impact::kDisrupt)),
            "")
      << "an operator has cancelled it";
}

TEST(Budgets, DoNotTakeNodesWithASlotOrOfAnotherPoolForHealthy) {
  BudgetLimits limits = without_limits();
  limits.min_healthy = {2, 0};
  Fleet fleet = fleet_of(4);
  fleet.nodes[uid_of(3)].place.pool = "other";
  EXPECT_EQ(guard_of({}, fleet, limits, request_for(0, Impact::kDisrupt)), "");
  const Ledger ledger = with_taken({}, fleet, 1, Impact::kCordon);
  EXPECT_EQ(guard_of(ledger, fleet, limits, request_for(0, Impact::kDisrupt)),
            "budget.min-healthy");
}

TEST(Budgets, KeepTheLastNodeOfAPoolIfOneMustRemain) {
  BudgetLimits limits;
  EXPECT_EQ(guard_of({}, fleet_of(1), limits, request_for(0, Impact::kDisrupt)), "");
  limits.min_healthy = {1, 0};
  EXPECT_EQ(guard_of({}, fleet_of(1), limits, request_for(0, Impact::kDisrupt)),
            "budget.min-healthy");
}

TEST(Budgets, GiveNothingWhileTheBreakerIsOpenNotEvenWhatIsHeld) {
  const Fleet fleet = fleet_of(4);
  const Ledger ledger =
      open_breaker(with_taken({}, fleet, 0, Impact::kDisrupt), "too many", kToday);
  for (const Impact impact : {Impact::kCordon, Impact::kDisrupt, Impact::kTerminate}) {
    EXPECT_EQ(guard_of(ledger, fleet, without_limits(), request_for(0, impact)), "budget.breaker");
    EXPECT_EQ(guard_of(ledger, fleet, without_limits(), request_for(1, impact)), "budget.breaker");
  }
  EXPECT_TRUE(without_slot(ledger, "r0").slots.empty());
}

TEST(Budgets, GiveNothingInAStormNotEvenWhatIsHeld) {
  Fleet fleet = fleet_of(10);
  const Ledger ledger = with_taken({}, fleet, 0, Impact::kDisrupt);
  for (int n = 0; n < 3; ++n) fleet.nodes[uid_of(n)].alerts = {{"Xid79", kToday}};
  for (const Impact impact : {Impact::kCordon, Impact::kDisrupt, Impact::kTerminate})
    EXPECT_EQ(guard_of(ledger, fleet, without_limits(), request_for(0, impact)), "budget.storm");
  EXPECT_EQ(guard_of(ledger, fleet, without_limits(), request_for(5, Impact::kDisrupt)), "");
}

TEST(Budgets, BeginNothingThatTheLedgerCannotHold) {
  const Fleet fleet = fleet_of(4);
  Ledger full;
  full.slots.resize(kMaxSlots);
  for (const Impact impact : {Impact::kCordon, Impact::kDisrupt})
    EXPECT_EQ(guard_of(full, fleet, without_limits(), request_for(0, impact)), "budget.ledger");
  full.slots.back() = slot_for({}, fleet, request_for(0, Impact::kCordon), kToday);
  EXPECT_EQ(guard_of(full, fleet, without_limits(), request_for(0, Impact::kDisrupt)), "");
  Ledger no_starts, no_attempts;
  no_starts.starts.resize(kMaxStarts);
  no_attempts.attempts.resize(kMaxAttempts);
  for (const Ledger& ledger : {no_starts, no_attempts}) {
    EXPECT_EQ(guard_of(ledger, fleet, without_limits(), request_for(0, Impact::kDisrupt)),
              "budget.ledger");
    EXPECT_EQ(guard_of(ledger, fleet, without_limits(), request_for(0, Impact::kCordon)), "");
  }
}

TEST(BudgetUse, SaysWhatIsSpentOfEachLimit) {
  const Fleet fleet = fleet_of(40);
  Ledger ledger = with_taken({}, fleet, 0, Impact::kTerminate);
  ledger = with_taken(ledger, fleet, 1, Impact::kCordon);
  std::vector<std::string> lines;
  for (const BudgetUse& use : budget_uses(ledger, fleet, {}, kToday))
    lines.push_back(use.guard + " " + use.where + " " + std::to_string(use.used) + "/" +
                    std::to_string(use.allowed));
  EXPECT_THAT(lines, ::testing::ElementsAre(
                         "budget.cluster the cluster 1/2", "budget.taint the cluster 2/8",
                         "budget.pool pool p 1/4", "budget.taint pool p 2/8",
                         "budget.cordon pool p 2/4", "budget.zone zone z 1/4",
                         "budget.terminate within 1h 1/2", "budget.terminate within 1d 1/5"));
}

}  // namespace
}  // namespace gpuward::remediator
