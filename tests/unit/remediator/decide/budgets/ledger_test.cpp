#include "remediator/decide/budgets/ledger.h"

#include <gmock/gmock.h>

#include "tests/unit/remediator/decide/budgets/fleets.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Ledger, HoldsOneSlotARemediation) {
  const Fleet fleet = fleet_of(3);
  Ledger ledger = with_taken({}, fleet, 0, Impact::kCordon);
  ledger = with_taken(ledger, fleet, 0, Impact::kCordon);
  ledger = with_taken(ledger, fleet, 1, Impact::kCordon);
  EXPECT_THAT(ledger.slots, SizeIs(2));
  EXPECT_THAT(without_slot(ledger, "r0").slots, SizeIs(1));
  EXPECT_EQ(without_slot(ledger, "r9"), ledger);
}

TEST(Ledger, RaisesASlotAtOnceAndNeverLowersIt) {
  const Fleet fleet = fleet_of(1);
  Ledger ledger = with_taken({}, fleet, 0, Impact::kCordon);
  ledger = with_taken(ledger, fleet, 0, Impact::kTerminate, kToday + hours(1));
  ASSERT_THAT(ledger.slots, SizeIs(1));
  EXPECT_EQ(ledger.slots[0].impact, Impact::kTerminate);
  EXPECT_EQ(ledger.slots[0].since, kToday + hours(1));
  EXPECT_EQ(with_taken(ledger, fleet, 0, Impact::kDisrupt, kToday + hours(2)), ledger);
}

TEST(Ledger, RemembersWhatWasBegunOnceAndAfterTheSlotIsGivenBack) {
  const Fleet fleet = fleet_of(1);
  Ledger ledger = with_taken({}, fleet, 0, Impact::kCordon);
  EXPECT_THAT(ledger.starts, IsEmpty());
  ledger = with_taken(ledger, fleet, 0, Impact::kDisrupt);
  ledger = without_slot(ledger, "r0");
  ledger = with_taken(ledger, fleet, 0, Impact::kDisrupt, kToday + hours(1));
  ASSERT_THAT(ledger.starts, SizeIs(1));
  EXPECT_EQ(ledger.starts[0].at, kToday);
  EXPECT_THAT(with_taken(ledger, fleet, 0, Impact::kTerminate).starts, SizeIs(2));
}

TEST(Ledger, ForgetsWhatWasBegunOnlyADayAfterTheLongestWindow) {
  const Fleet fleet = fleet_of(3);
  const Ledger ledger = with_taken({}, fleet, 0, Impact::kDisrupt);
  EXPECT_THAT(with_taken(ledger, fleet, 1, Impact::kCordon, kToday + kStartsKept).starts,
              SizeIs(1));
  EXPECT_THAT(with_taken(ledger, fleet, 1, Impact::kCordon, kToday + kStartsKept + hours(1)).starts,
              IsEmpty());
  EXPECT_GT(kStartsKept, kLongestWindow);
}

Attempt attempt_on(const std::string& remediation, const std::string& instance,
                   std::vector<std::string> serials, WallTime at = kToday) {
  return {remediation, {instance, std::move(serials)}, Treatment::kReboot, at};
}

int reboots_of(const Ledger& ledger, const Hardware& hardware, WallTime since = kToday - hours(1)) {
  return attempts_on(ledger, hardware, Treatment::kReboot, since);
}

TEST(Attempts, AreCountedByInstanceOrGpuWhateverTheRemediation) {
  Ledger ledger = with_attempt({}, attempt_on("r1", "i-1", {"gpu-a"}));
  ledger = with_attempt(ledger, attempt_on("r2", "i-1", {"gpu-b"}));
  EXPECT_EQ(reboots_of(ledger, {"i-1", {}}), 2);
  EXPECT_EQ(reboots_of(ledger, {"i-9", {"gpu-b"}}), 1);
  EXPECT_EQ(reboots_of(ledger, {"i-9", {"gpu-c"}}), 0);
  EXPECT_EQ(attempts_on(ledger, {"i-1", {}}, Treatment::kReset, kToday - hours(1)), 0);
}

TEST(Attempts, OfUnknownHardwareAreNobodyElses) {
  const Ledger ledger = with_attempt({}, attempt_on("r1", "", {""}));
  EXPECT_EQ(reboots_of(ledger, {"", {""}}), 0);
}

TEST(Attempts, CountOnceARemediationHoweverOftenTheyAreTold) {
  Ledger ledger = with_attempt({}, attempt_on("r1", "i-1", {}));
  ledger = with_attempt(ledger, attempt_on("r1", "i-1", {}, kToday + hours(1)));
  EXPECT_EQ(reboots_of(ledger, {"i-1", {}}), 1);
}

TEST(Attempts, CountWithinTheTimeAskedForAndAreKeptForAMonth) {
  Ledger ledger = with_attempt({}, attempt_on("r1", "i-1", {}));
  EXPECT_EQ(reboots_of(ledger, {"i-1", {}}, kToday), 1);
  EXPECT_EQ(reboots_of(ledger, {"i-1", {}}, kToday + hours(1)), 0);
  ledger = with_attempt(ledger, attempt_on("r2", "i-2", {}, kToday + kAttemptsKept));
  EXPECT_EQ(reboots_of(ledger, {"i-1", {}}), 1);
  ledger = with_attempt(ledger, attempt_on("r3", "i-3", {}, kToday + kAttemptsKept + hours(1)));
  EXPECT_EQ(reboots_of(ledger, {"i-1", {}}), 0);
}

TEST(Attempts, KeepABoundedNumberOfSerials) {
  const Ledger ledger =
      with_attempt({}, attempt_on("r1", "i-1", std::vector<std::string>(100, "gpu")));
  EXPECT_THAT(ledger.attempts[0].hardware.serials, SizeIs(kMaxSerials));
}

TEST(Ledger, RaisesATaintToACordonAndGivesBothBack) {
  const Fleet fleet = fleet_of(3);
  Ledger ledger = with_taken({}, fleet, 0, Impact::kTaint);
  EXPECT_THAT(ledger.taints, SizeIs(1));
  EXPECT_EQ(with_taken(ledger, fleet, 0, Impact::kTaint), ledger);
  const Ledger raised = with_taken(ledger, fleet, 0, Impact::kCordon);
  EXPECT_TRUE(raised.taints.empty());
  EXPECT_EQ(raised.find("r0")->impact, Impact::kCordon);
  EXPECT_EQ(with_taken(raised, fleet, 0, Impact::kTaint), raised);
  EXPECT_EQ(without_slot(ledger, "r0"), Ledger());
  EXPECT_EQ(without_slot(raised, "r0"), Ledger());
}

}  // namespace
}  // namespace gpuward::remediator
