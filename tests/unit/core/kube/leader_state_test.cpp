#include "core/kube/leader_state.h"

#include <gtest/gtest.h>

#include <chrono>

namespace gpuward::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = LeaseRequest::Kind;

constexpr Clock::Steady kStart{std::chrono::hours(1)};
constexpr Clock::Wall kWall{std::chrono::hours(500'000)};

LeaseMoment moment_at(Clock::Steady asked, milliseconds took = milliseconds(0)) {
  return {.asked = asked, .answered = asked + took, .wall = kWall};
}

Lease version_of_peer(const std::string& version = "1", int duration_seconds = 15) {
  Lease lease;
  lease.meta.name = "l";
  lease.meta.ns = "sys";
  lease.meta.resource_version = version;
  lease.holder = "you";
  lease.duration_seconds = duration_seconds;
  lease.acquire_time = "then";
  lease.renew_time = "then";
  lease.transitions = 3;
  return lease;
}

const LeaseRequest kRead{};

class LeaderStateTest : public ::testing::Test {
 protected:
  std::optional<LeaseRequest> look(const Lease& lease, Clock::Steady at) {
    return state.take(kRead, lease, moment_at(at));
  }
  // Returns the server's answer to a write that it applied.
  static Lease done(const LeaseRequest& write, const std::string& version = "8") {
    Lease lease = write.lease;
    lease.meta.resource_version = version;
    return lease;
  }
  // Takes the lease, which has no holder.
  Lease lead(Clock::Steady at) {
    Lease free = version_of_peer();
    free.holder.clear();
    const auto write = look(free, at);
    Lease mine = done(*write, "2");
    EXPECT_FALSE(state.take(*write, mine, moment_at(at)));
    return mine;
  }
  [[nodiscard]] bool leads(Clock::Steady at) const { return at < state.leads_until(); }

  LeaderState state{"sys", "l", "me"};
};

TEST_F(LeaderStateTest, BeginsByLooking) {
  EXPECT_EQ(state.begin(kWall).kind, Kind::kRead);
  EXPECT_FALSE(leads(kStart));
}

TEST_F(LeaderStateTest, CreatesTheLeaseThatIsNotThere) {
  const auto write = state.take(kRead, fail(ErrorKind::kNotFound, "none"), moment_at(kStart));
  ASSERT_TRUE(write);
  EXPECT_EQ(write->kind, Kind::kCreate);
  EXPECT_EQ(write->lease.holder, "me");
  EXPECT_EQ(write->lease.duration_seconds, 15);
  EXPECT_EQ(write->lease.transitions, 0);
  EXPECT_FALSE(write->lease.acquire_time.empty());
}

TEST_F(LeaderStateTest, DoesNotCreateOneBecauseTheServerFails) {
  EXPECT_FALSE(state.take(kRead, fail(ErrorKind::kUnavailable, "no"), moment_at(kStart)));
}

TEST_F(LeaderStateTest, TakesAReleasedLeaseAtOnce) {
  Lease released = version_of_peer("1", 1);
  released.holder.clear();
  const auto write = look(released, kStart);
  ASSERT_TRUE(write);
  EXPECT_EQ(write->kind, Kind::kUpdate);
  EXPECT_EQ(write->lease.transitions, 4);
  EXPECT_EQ(write->lease.meta.resource_version, "1");
}

TEST_F(LeaderStateTest, LeavesALeaseToItsHolderWhileItIsRenewed) {
  EXPECT_FALSE(look(version_of_peer("1"), kStart));
  EXPECT_FALSE(look(version_of_peer("2"), kStart + seconds(14)));
  EXPECT_FALSE(look(version_of_peer("2"), kStart + seconds(28)));
}

TEST_F(LeaderStateTest, TakesALeaseThatWasNotRenewedForItsDuration) {
  EXPECT_FALSE(look(version_of_peer(), kStart));
  EXPECT_FALSE(look(version_of_peer(), kStart + milliseconds(14'999)));
  EXPECT_TRUE(look(version_of_peer(), kStart + seconds(15)));
}

TEST_F(LeaderStateTest, CountsFromWhenAnAnswerHadComeUntilWhenTheNextWasAsked) {
  EXPECT_FALSE(state.take(kRead, version_of_peer(), moment_at(kStart, seconds(4))));
  EXPECT_FALSE(state.take(kRead, version_of_peer(), moment_at(kStart + seconds(18), seconds(4))));
  EXPECT_TRUE(state.take(kRead, version_of_peer(), moment_at(kStart + seconds(19))));
}

// The holder's wall clock has jumped back.
TEST_F(LeaderStateTest, ARenewalIsOneWhateverItsTimeSays) {
  EXPECT_FALSE(look(version_of_peer("1"), kStart));
  EXPECT_FALSE(look(version_of_peer("2"), kStart + seconds(14)));
  EXPECT_FALSE(look(version_of_peer("2"), kStart + seconds(28)));
}

TEST_F(LeaderStateTest, WaitsForTheEndOfALeaseThatSomebodyDeleted) {
  const auto gone = fail(ErrorKind::kNotFound, "none");
  EXPECT_FALSE(look(version_of_peer("1"), kStart));
  EXPECT_FALSE(state.take(kRead, gone, moment_at(kStart + seconds(14))));
  const auto create = state.take(kRead, gone, moment_at(kStart + seconds(15)));
  ASSERT_TRUE(create);
  EXPECT_EQ(create->kind, Kind::kCreate);
  EXPECT_TRUE(create->lease.meta.resource_version.empty());
}

TEST_F(LeaderStateTest, MakesItsOwnLeaseAgainAtOnce) {
  (void)lead(kStart);
  const auto gone = fail(ErrorKind::kNotFound, "none");
  const auto next = state.take(state.begin(kWall), gone, moment_at(kStart + seconds(2)));
  ASSERT_TRUE(next);
  EXPECT_FALSE(leads(kStart + seconds(2)));
  const auto create = state.take(*next, gone, moment_at(kStart + seconds(2)));
  ASSERT_TRUE(create);
  EXPECT_EQ(create->kind, Kind::kCreate);
}

TEST_F(LeaderStateTest, TrustsTheHoldersOwnDurationAndOursIfThereIsNone) {
  EXPECT_FALSE(look(version_of_peer("1", 60), kStart));
  EXPECT_FALSE(look(version_of_peer("1", 60), kStart + seconds(59)));
  EXPECT_FALSE(look(version_of_peer("2", 0), kStart + seconds(60)));
  EXPECT_TRUE(look(version_of_peer("2", 0), kStart + seconds(75)));
}

TEST_F(LeaderStateTest, LeadsUntilTheRenewDeadlineAfterARenewalWasSent) {
  Lease free = version_of_peer();
  free.holder.clear();
  const auto write = look(free, kStart);
  ASSERT_TRUE(write);
  EXPECT_FALSE(leads(kStart));
  ASSERT_FALSE(state.take(*write, done(*write), moment_at(kStart, seconds(3))));
  EXPECT_TRUE(leads(kStart + milliseconds(9'999)));
  EXPECT_FALSE(leads(kStart + seconds(10)));
}

TEST_F(LeaderStateTest, RenewsWhatItHoldsWithoutLookingAgain) {
  const Lease mine = lead(kStart);
  const LeaseRequest renewal = state.begin(kWall + seconds(2));
  EXPECT_EQ(renewal.kind, Kind::kUpdate);
  EXPECT_EQ(renewal.lease.meta.resource_version, "2");
  EXPECT_EQ(renewal.lease.transitions, mine.transitions);
  EXPECT_EQ(renewal.lease.acquire_time, mine.acquire_time);
  EXPECT_NE(renewal.lease.renew_time, mine.renew_time);
}

TEST_F(LeaderStateTest, AFailedRenewalKeepsTheDeadlineOfTheLastOne) {
  (void)lead(kStart);
  const auto renewal = state.begin(kWall);
  EXPECT_FALSE(
      state.take(renewal, fail(ErrorKind::kTimeout, "no"), moment_at(kStart + seconds(2))));
  EXPECT_TRUE(leads(kStart + seconds(9)));
  EXPECT_FALSE(leads(kStart + seconds(10)));
}

// If the new object equals the old one, the API server answers 200 and keeps the version.
TEST_F(LeaderStateTest, AWriteThatChangedNothingIsNoRenewal) {
  const Lease mine = lead(kStart);
  EXPECT_FALSE(state.take(state.begin(kWall), mine, moment_at(kStart + seconds(5))));
  EXPECT_TRUE(leads(kStart + seconds(9)));
  EXPECT_FALSE(leads(kStart + seconds(10)));
}

TEST_F(LeaderStateTest, LooksAgainAfterARenewalOfWhichItDoesNotKnowWhetherItWasDone) {
  const Lease mine = lead(kStart);
  (void)state.take(state.begin(kWall), fail(ErrorKind::kUnavailable, "no"), moment_at(kStart));
  EXPECT_EQ(state.begin(kWall).kind, Kind::kRead);
  EXPECT_TRUE(look(mine, kStart + seconds(2)));
  EXPECT_EQ(state.begin(kWall).kind, Kind::kUpdate);
}

TEST_F(LeaderStateTest, AConflictEndsItAtOnceAndMakesItLook) {
  (void)lead(kStart);
  const auto next = state.take(state.begin(kWall), fail(ErrorKind::kConflict, "changed"),
                               moment_at(kStart + seconds(2)));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->kind, Kind::kRead);
  EXPECT_FALSE(leads(kStart + seconds(2)));
  EXPECT_FALSE(look(version_of_peer(), kStart + seconds(2)));
  EXPECT_EQ(state.holder(), "you");
}

TEST_F(LeaderStateTest, FindsItsOwnRenewalWhoseAnswerWasLost) {
  Lease mine = lead(kStart);
  (void)state.take(state.begin(kWall), fail(ErrorKind::kConflict, "changed"),
                   moment_at(kStart + seconds(2)));
  mine.meta.resource_version = "3";
  const auto write = look(mine, kStart + seconds(2));
  ASSERT_TRUE(write);
  EXPECT_EQ(write->lease.transitions, mine.transitions);
  EXPECT_FALSE(state.take(*write, done(*write), moment_at(kStart + seconds(2))));
  EXPECT_TRUE(leads(kStart + seconds(11)));
}

// The lease is from a restored backup: another replica leads by a lease that no longer exists, and
// does not know it yet.
TEST_F(LeaderStateTest, WaitsForTheEndOfALeaseThatBearsItsNameAndThatItHasLostBefore) {
  const Lease mine = lead(kStart);
  EXPECT_FALSE(look(version_of_peer("5"), kStart + seconds(20)));
  EXPECT_FALSE(look(mine, kStart + seconds(22)));
  EXPECT_EQ(state.begin(kWall).kind, Kind::kRead);
  EXPECT_FALSE(leads(kStart + seconds(22)));
  EXPECT_FALSE(look(mine, kStart + seconds(36)));
  EXPECT_TRUE(look(mine, kStart + seconds(38)));
}

TEST_F(LeaderStateTest, WaitsForTheEndOfALeaseOfAnEarlierWriteOfItsOwn) {
  Lease mine = lead(kStart);
  mine.renew_time = "before";
  mine.meta.resource_version = "1";
  EXPECT_FALSE(look(mine, kStart + seconds(20)));
}

TEST_F(LeaderStateTest, LosesOneRaceARoundAndWaitsForTheNext) {
  const auto create = state.take(kRead, fail(ErrorKind::kNotFound, "none"), moment_at(kStart));
  ASSERT_TRUE(create);
  EXPECT_FALSE(state.take(*create, fail(ErrorKind::kAlreadyExists, "yours"), moment_at(kStart)));
  EXPECT_EQ(state.begin(kWall).kind, Kind::kRead);
}

TEST_F(LeaderStateTest, GivesBackWhatItHoldsAndLeadsNoMore) {
  (void)lead(kStart);
  const auto release = state.give_back(kWall);
  ASSERT_TRUE(release);
  EXPECT_FALSE(leads(kStart));
  EXPECT_EQ(release->lease.holder, "");
  EXPECT_EQ(release->lease.duration_seconds, 1);
  EXPECT_EQ(release->lease.meta.resource_version, "2");
  EXPECT_FALSE(state.take(*release, done(*release), moment_at(kStart)));
  EXPECT_FALSE(leads(kStart));
}

TEST_F(LeaderStateTest, GivesBackALeaseThatALostRenewalHasChanged) {
  Lease mine = lead(kStart);
  const auto release = state.give_back(kWall);
  const auto next = state.take(*release, fail(ErrorKind::kConflict, "x"), moment_at(kStart));
  ASSERT_TRUE(next);
  mine.meta.resource_version = "7";
  const auto again = look(mine, kStart);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->lease.meta.resource_version, "7");
  EXPECT_EQ(again->lease.holder, "");
}

TEST_F(LeaderStateTest, NeverGivesBackTheLeaseOfAnother) {
  EXPECT_FALSE(look(version_of_peer(), kStart));
  EXPECT_FALSE(state.give_back(kWall));
}

TEST_F(LeaderStateTest, GivingBackNeitherTakesNorCreatesOne) {
  (void)lead(kStart);
  const auto release = state.give_back(kWall);
  (void)state.take(*release, fail(ErrorKind::kConflict, "x"), moment_at(kStart));
  Lease free = version_of_peer();
  free.holder.clear();
  EXPECT_FALSE(look(free, kStart));
  EXPECT_FALSE(state.take(kRead, fail(ErrorKind::kNotFound, "x"), moment_at(kStart)));
}

}  // namespace
}  // namespace gpuward::kube
