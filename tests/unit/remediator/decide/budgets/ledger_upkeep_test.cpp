#include "remediator/decide/budgets/ledger_upkeep.h"

#include <gmock/gmock.h>

#include "remediator/decide/budgets/breaker.h"
#include "tests/unit/remediator/decide/budgets/fleets.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const WallTime kNoon = kToday + hours(12);

// r0 has disrupted its node since kToday. The node is drained.
class Settling : public ::testing::Test {
 protected:
  Settling() {
    fleet_.nodes[uid_of(0)].schedulable = false;
    ledger_ = with_taken({}, fleet_, 0, Impact::kDisrupt);
  }
  [[nodiscard]] Ledger settle(const Roll& roll, WallTime now = kNoon) const {
    return settled(ledger_, roll, fleet_, BudgetLimits(), now);
  }
  Fleet fleet_ = fleet_of(3);
  Ledger ledger_;
};

TEST_F(Settling, KeepsTheSlotsOfOpenRemediations) {
  fleet_.nodes[uid_of(0)].schedulable = true;
  EXPECT_EQ(settle({{"r0"}, {}, kNoon}, kNoon + hours(1000)), ledger_);
}

TEST_F(Settling, FreesTheSlotsOfClosedRemediations) {
  EXPECT_THAT(settle({{}, {"r0"}, kNoon}).slots, IsEmpty());
}

TEST_F(Settling, KeepsTheSlotOfADeletedRemediationWhileItsNodeIsOut) {
  const Roll nobody{{}, {}, kNoon};
  EXPECT_THAT(settle(nobody).slots, SizeIs(1));
  fleet_.nodes[uid_of(0)] = fleet_of(1).nodes[uid_of(0)];
  fleet_.nodes[uid_of(0)].severity = Severity::kReboot;
  EXPECT_THAT(settle(nobody).slots, SizeIs(1));
  fleet_.nodes.erase(uid_of(0));
  EXPECT_THAT(settle(nobody).slots, SizeIs(1));
}

TEST_F(Settling, FreesTheSlotOfADeletedRemediationOnceItsNodeIsBack) {
  fleet_.nodes[uid_of(0)].schedulable = true;
  EXPECT_THAT(settle({{}, {}, kNoon}).slots, IsEmpty());
}

TEST_F(Settling, FreesTheSlotOfADeletedRemediationAfterADay) {
  const Roll nobody{{}, {}, kNoon};
  EXPECT_THAT(settle(nobody, kToday + hours(24) - minutes(1)).slots, SizeIs(1));
  EXPECT_THAT(settle(nobody, kToday + hours(24)).slots, IsEmpty());
}

TEST_F(Settling, KeepsASlotThatIsYoungerThanTheRoll) {
  fleet_.nodes[uid_of(0)].schedulable = true;
  EXPECT_THAT(settle({{}, {}, kToday + minutes(4)}).slots, SizeIs(1));
  EXPECT_THAT(settle({{}, {}, kToday + minutes(5)}).slots, IsEmpty());
}

TEST_F(Settling, FreesNoWindowAndNoAttempt) {
  ledger_ = with_attempt(ledger_, {"r0", {"i-0", {}}, Treatment::kReboot, kToday});
  const Ledger after = settle({{}, {"r0"}, kNoon});
  EXPECT_EQ(after.starts, ledger_.starts);
  EXPECT_EQ(after.attempts, ledger_.attempts);
}

std::vector<SpentRecord> two_records() {
  const Place place{"p", "z", {}};
  SpentRecord open{"r0", "n0", uid_of(0), {"i-0", {"gpu-a"}}, place, true, {}};
  open.steps = {{Impact::kCordon, {}, kToday}, {Impact::kDisrupt, Treatment::kReboot, kToday}};
  SpentRecord closed{"r1", "n1", uid_of(1), {"i-1", {}}, place, false, {}};
  closed.steps = {{Impact::kTerminate, Treatment::kTerminate, kToday}};
  return {open, closed};
}

TEST(Rebuilding, TakesSlotsWindowsAndAttemptsFromTheRecords) {
  const Ledger ledger = rebuilt({}, two_records(), kNoon);
  ASSERT_THAT(ledger.slots, SizeIs(1));
  EXPECT_EQ(ledger.slots[0].remediation, "r0");
  EXPECT_EQ(ledger.slots[0].impact, Impact::kDisrupt);
  EXPECT_THAT(ledger.starts, SizeIs(2));
  EXPECT_EQ(attempts_on(ledger, {"", {"gpu-a"}}, Treatment::kReboot, kToday), 1);
  EXPECT_EQ(attempts_on(ledger, {"i-1", {}}, Treatment::kTerminate, kToday), 1);
}

TEST(Rebuilding, OpensTheBreakerBecauseDeletedRemediationsAreNotKnown) {
  const Ledger ledger = rebuilt({}, two_records(), kNoon);
  EXPECT_TRUE(ledger.breaker.open);
  EXPECT_EQ(ledger.breaker.since, kNoon);
}

TEST(Rebuilding, ChangesNothingIfNothingWasEverDone) {
  EXPECT_EQ(rebuilt({}, {}, kNoon), Ledger());
  SpentRecord observed{"r0", "n0", uid_of(0), {}, {}, true, {}};
  EXPECT_EQ(rebuilt({}, std::vector{observed}, kNoon), Ledger());
}

TEST(Rebuilding, ChangesNothingIfTheLedgerKnowsAll) {
  Ledger ledger = rebuilt({}, two_records(), kNoon);
  ledger = close_breaker(ledger, "ada", kNoon).value();
  EXPECT_EQ(rebuilt(ledger, two_records(), kNoon + hours(1)), ledger);
}

TEST_F(Settling, FreesTheTaintsOfClosedRemediations) {
  ledger_ = with_taken(ledger_, fleet_, 1, Impact::kTaint);
  ledger_ = with_taken(ledger_, fleet_, 2, Impact::kTaint);
  const Ledger after = settle({{"r0", "r1"}, {"r2"}, kNoon});
  ASSERT_THAT(after.taints, SizeIs(1));
  EXPECT_EQ(after.taints[0].remediation, "r1");
}

// A version that took no slots for taints has set these taints.
TEST(RecordedTaints, GetTheSlotsThatTheyLack) {
  std::vector<SpentRecord> records = two_records();
  for (SpentRecord& record : records) record.steps = {{Impact::kTaint, {}, kToday}};
  const Ledger ledger = with_recorded_taints({}, records);
  ASSERT_THAT(ledger.taints, SizeIs(1));
  EXPECT_EQ(ledger.taints[0].remediation, "r0");
  EXPECT_EQ(ledger.taints[0].node_uid, uid_of(0));
  EXPECT_EQ(with_recorded_taints(ledger, records), ledger);
  const Ledger cordoned = with_taken({}, fleet_of(3), 0, Impact::kCordon);
  EXPECT_EQ(with_recorded_taints(cordoned, records), cordoned);
}

TEST(Rebuilding, OpensNoBreakerForTaintsAlone) {
  SpentRecord open{"r0", "n0", uid_of(0), {}, {}, true, {}};
  open.steps = {{Impact::kTaint, {}, kToday}};
  const Ledger ledger = rebuilt({}, std::vector{open}, kNoon);
  EXPECT_THAT(ledger.taints, SizeIs(1));
  EXPECT_FALSE(ledger.breaker.open);
}

}  // namespace
}  // namespace gpuward::remediator
