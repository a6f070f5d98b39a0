#include "core/http/server/room.h"

#include <gmock/gmock.h>

namespace gpuward::http {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

constexpr std::size_t kWorkers = 16;  // two of them spare

class RoomTest : public testing::Test {
 protected:
  void add(const std::string& peer, std::optional<WaitRank> rank,
           std::chrono::milliseconds age = 1s) {
    held_.push_back({peer, rank, now_ - age});
  }
  std::vector<std::size_t> choose(std::size_t connections) {
    return room_.choose(held_, connections, now_);
  }

  Room room_{kWorkers};
  Room::Steady now_{1h};
  std::vector<HeldConnection> held_;
};

TEST_F(RoomTest, IsMadeWhereNoWorkerIsSpareAndNotBefore) {
  add("a", WaitRank::kNoHead);
  EXPECT_THAT(choose(14), IsEmpty());
  EXPECT_THAT(choose(15), ElementsAre(0));
  held_.clear();
  add("a", std::nullopt);
  EXPECT_THAT(choose(100), IsEmpty()) << "the server works on it";
}

TEST_F(RoomTest, IsTakenFromThePeerThatHasHadMostWorkerTime) {
  add("a", WaitRank::kNoHead, 4s);
  add("b", WaitRank::kNoHead, 3s);
  add("b", WaitRank::kNoHead, 2s);
  EXPECT_THAT(choose(15), ElementsAre(1)) << "its oldest";
}

TEST_F(RoomTest, IsTakenInTheOrderOfRanksAndAges) {
  add("a", WaitRank::kDeaf, 8s);
  add("a", WaitRank::kNoBody, 8s);
  add("a", WaitRank::kIdle, 8s);
  add("a", WaitRank::kNoHead, 7s);
  add("a", WaitRank::kNoHead, 8s);
  add("a", WaitRank::kRefused, 0s);
  EXPECT_THAT(choose(15), ElementsAre(5));
  EXPECT_THAT(choose(16), ElementsAre(5, 4));
}

TEST_F(RoomTest, IsTakenFromWholePeersWhileOthersWaitForAWorker) {
  for (int i = 0; i < 10; ++i) add("crowd", WaitRank::kNoHead);
  add("few", WaitRank::kNoHead, 2s);
  add("few", WaitRank::kNoHead, 2s);
  EXPECT_THAT(choose(17), AllOf(SizeIs(10), Each(testing::Lt(10U))));
}

TEST_F(RoomTest, LeavesTimeToAPeerThatHasHadLittle) {
  add("few", WaitRank::kNoBody, 40ms);
  add("few", WaitRank::kYoung, 40ms);
  for (int i = 0; i < 3; ++i) add("crowd", WaitRank::kYoung, 40ms);
  EXPECT_THAT(choose(17), UnorderedElementsAre(2, 3, 4)) << "time shrinks with each connection";
}

TEST_F(RoomTest, RemembersForAWhileWhoHasHadWorkerTime) {
  for (int i = 0; i < 3; ++i) add("crowd", WaitRank::kNoHead);
  EXPECT_THAT(choose(17), SizeIs(3));
  held_.clear();
  add("new", WaitRank::kNoHead, 0s);
  add("crowd", WaitRank::kYoung, 0s);
  EXPECT_THAT(choose(17), ElementsAre(1));
  now_ += 1min;
  held_.clear();
  add("crowd", WaitRank::kYoung, 0s);
  EXPECT_THAT(choose(17), IsEmpty());
}

// Each look finds a new connection of "brief".
TEST_F(RoomTest, CountsConnectionsThatAreShort) {
  add("brief", WaitRank::kYoung, 0s);
  add("once", WaitRank::kYoung, 0s);
  EXPECT_THAT(choose(17), IsEmpty());
  held_.pop_back();
  for (int i = 0; i < 9; ++i) {
    now_ += 10ms;
    EXPECT_THAT(choose(17), IsEmpty()) << i;
  }
  now_ += 20ms;
  EXPECT_THAT(choose(17), ElementsAre(0));
  EXPECT_TRUE(room_.must_yield("brief", now_));
  EXPECT_FALSE(room_.must_yield("once", now_));
}

TEST_F(RoomTest, LetsNoPeerYieldUnlessOthersWaitForAWorker) {
  add("heavy", std::nullopt, 9s);
  add("light", std::nullopt, 20ms);
  (void)choose(17);
  EXPECT_TRUE(room_.must_yield("heavy", now_));
  EXPECT_FALSE(room_.must_yield("light", now_));
  EXPECT_FALSE(room_.must_yield("new", now_));
  (void)choose(16);
  EXPECT_FALSE(room_.must_yield("heavy", now_));
}

TEST_F(RoomTest, HoldsNoIdleConnectionAgainstItsPeer) {
  for (int i = 0; i < 4; ++i) add("idle", WaitRank::kIdle);
  for (HeldConnection& one : held_) one.is_counted = false;
  EXPECT_THAT(choose(17), SizeIs(3));
  held_.clear();
  add("idle", WaitRank::kYoung, 0s);
  EXPECT_THAT(choose(17), IsEmpty());
}

}  // namespace
}  // namespace gpuward::http
