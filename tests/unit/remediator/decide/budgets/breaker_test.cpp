#include "remediator/decide/budgets/breaker.h"

#include <gmock/gmock.h>

#include "remediator/decide/budgets/slot_claim.h"
#include "tests/unit/remediator/decide/budgets/fleets.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Adds `count` new Remediations at `at`, from number `first` on, in a cluster of `nodes`.
Ledger with_arrivals(Ledger ledger, int first, int count, WallTime at = kToday,
                     std::size_t nodes = 10) {
  for (int n = first; n < first + count; ++n)
    ledger = with_new_remediation(ledger, {remediation_of(n), uid_of(n), at}, {}, nodes, at);
  return ledger;
}

TEST(Breaker, OpensWithTheSixthNodeWithinTenMinutes) {
  const Ledger five = with_arrivals({}, 0, 5);
  EXPECT_FALSE(five.breaker.open);
  const Ledger six = with_arrivals(five, 5, 1, kToday + minutes(10));
  EXPECT_TRUE(six.breaker.open);
  EXPECT_EQ(six.breaker.since, kToday + minutes(10));
  EXPECT_THAT(six.breaker.why,
              HasSubstr("6 nodes got a new Remediation within 10m; the limit is 5"));
}

TEST(Breaker, StaysClosedIfTheyComeSlowly) {
  const Ledger five = with_arrivals({}, 0, 5);
  EXPECT_FALSE(with_arrivals(five, 5, 1, kToday + minutes(10) + minutes(1)).breaker.open);
}

TEST(Breaker, AllowsATenthOfALargeCluster) {
  EXPECT_FALSE(with_arrivals({}, 0, 100, kToday, 1000).breaker.open);
  EXPECT_TRUE(with_arrivals({}, 0, 101, kToday, 1000).breaker.open);
}

TEST(Breaker, CountsTheNumberAloneIfNoCensusWasTakenYet) {
  EXPECT_FALSE(with_arrivals({}, 0, 5, kToday, 0).breaker.open);
  EXPECT_TRUE(with_arrivals({}, 0, 6, kToday, 0).breaker.open);
}

TEST(Breaker, CountsNodesAndNotRepeats) {
  Ledger ledger = with_arrivals({}, 0, 5);
  ledger = with_arrivals(ledger, 0, 5);
  ledger = with_new_remediation(ledger, {"again", uid_of(0), kToday}, {}, 10, kToday);
  EXPECT_FALSE(ledger.breaker.open);
}

// After a restart the informers deliver all open Remediations again.
TEST(Breaker, DoesNotTakeOldRemediationsForNewOnes) {
  Ledger ledger;
  for (int n = 0; n < 50; ++n)
    ledger = with_new_remediation(ledger, {remediation_of(n), uid_of(n), kToday - minutes(11)}, {},
                                  10, kToday);
  EXPECT_EQ(ledger, Ledger());
  const Ledger five = with_arrivals({}, 0, 5);
  EXPECT_EQ(with_new_remediation(five, {"old", "old", kToday - minutes(11)}, {}, 10, kToday), five);
}

Ledger with_six_made(Ledger ledger, WallTime made, WallTime now) {
  BudgetLimits limits;
  limits.breaker.window = minutes(1);
  for (int n = 0; n < 6; ++n) {
    Remediation one;
    one.name = remediation_of(n);
    one.node_uid = uid_of(n);
    one.severity = Severity::kReset;
    one.created = made;
    ledger = with_arrival(std::move(ledger), one, limits, 10, now);
  }
  return ledger;
}

// The API server's clock is behind by more than the window.
TEST(Breaker, CountsByTheClockThatTheWindowIsMeasuredWith) {
  EXPECT_TRUE(with_six_made({}, kToday - std::chrono::seconds(65), kToday).breaker.open);
}

TEST(Breaker, DoesNotCountAgainAfterAShortWindowWhatTheHumanHasSeen) {
  const Ledger closed = close_breaker(with_six_made({}, kToday, kToday), "ada", kToday).value();
  EXPECT_FALSE(with_six_made(closed, kToday, kToday + std::chrono::seconds(90)).breaker.open);
}

TEST(Breaker, StaysOpenUntilAHumanClosesIt) {
  const Ledger open = with_arrivals({}, 0, 6);
  const Ledger later = with_arrivals(open, 6, 1, kToday + std::chrono::hours(48));
  EXPECT_TRUE(later.breaker.open);
  EXPECT_EQ(later.breaker.since, kToday);
  const auto closed = close_breaker(later, "ada", kToday + std::chrono::hours(49));
  ASSERT_TRUE(closed);
  EXPECT_FALSE(closed->breaker.open);
  EXPECT_EQ(closed->breaker.by, "ada");
  EXPECT_EQ(close_breaker(*closed, "bob", kToday + std::chrono::hours(50)), *closed);
  EXPECT_FALSE(close_breaker(later, "", kToday));
}

TEST(Breaker, DoesNotCountAgainWhatTheHumanHasSeen) {
  const Ledger closed = close_breaker(with_arrivals({}, 0, 6), "ada", kToday).value();
  const Ledger told_again = with_arrivals(closed, 0, 6);
  EXPECT_FALSE(with_arrivals(told_again, 6, 5).breaker.open);
  EXPECT_TRUE(with_arrivals(told_again, 6, 6).breaker.open);
}

TEST(Breaker, CountsAlthoughTheClockWentBackSinceItWasClosed) {
  const Ledger closed = close_breaker(with_arrivals({}, 0, 6), "ada", kToday).value();
  EXPECT_TRUE(with_arrivals(closed, 6, 6, kToday - std::chrono::hours(1)).breaker.open);
}

TEST(Breaker, OpensBeforeArrivalsWouldHaveToBeForgotten) {
  const Ledger flood = with_arrivals({}, 0, 2000, kToday, 1'000'000);
  EXPECT_TRUE(flood.breaker.open);
  EXPECT_THAT(flood.arrivals, SizeIs(kMaxArrivals));
}

TEST(Breaker, NeverOpensByItselfAtAHundredPercent) {
  BudgetLimits off;
  off.breaker.share = {0, 100};
  Ledger ledger;
  for (int i = 0; i < 700; ++i) {
    const std::string n = std::to_string(i);
    ledger = with_new_remediation(
        ledger, {.remediation = "r" + n, .node_uid = "u" + n, .at = kToday}, off, 100, kToday);
  }
  EXPECT_FALSE(ledger.breaker.open);
  EXPECT_THAT(ledger.arrivals, IsEmpty());
  EXPECT_TRUE(open_breaker(ledger, "by hand", kToday).breaker.open);
}

TEST(Breaker, OpensByHandAndKeepsItsFirstReason) {
  const Ledger open = open_breaker({}, "maintenance", kToday);
  EXPECT_EQ(open.breaker.why, "maintenance");
  EXPECT_EQ(open_breaker(open, "other", kToday + minutes(1)), open);
}

}  // namespace
}  // namespace gpuward::remediator
