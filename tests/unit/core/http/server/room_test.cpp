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
  void add(const std::string& peer, WaitRank rank, std::chrono::seconds age = 1s) {
    waiting_.push_back({peer, rank, now_ - age});
  }
  std::vector<std::size_t> choose(std::size_t connections) {
    return room_.choose(waiting_, connections, now_);
  }

  Room room_{kWorkers};
  Room::Steady now_{1h};
  std::vector<WaitingConnection> waiting_;
};

TEST_F(RoomTest, IsMadeWhereNoWorkerIsSpareAndNotBefore) {
  add("a", WaitRank::kNoHead);
  EXPECT_THAT(choose(14), IsEmpty());
  EXPECT_THAT(choose(15), ElementsAre(0));
  waiting_.clear();
  EXPECT_THAT(choose(100), IsEmpty()) << "all of them work";
}

TEST_F(RoomTest, IsTakenFromThePeerThatHasMost) {
  add("a", WaitRank::kNoHead, 9s);
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
  add("few", WaitRank::kNoHead, 9s);
  add("few", WaitRank::kNoHead, 9s);
  EXPECT_THAT(choose(17), AllOf(SizeIs(10), Each(testing::Lt(10U))));
}

TEST_F(RoomTest, LeavesTimeToAPeerWithFewConnections) {
  add("few", WaitRank::kYoung, 0s);
  add("few", WaitRank::kYoung, 0s);
  EXPECT_THAT(choose(17), IsEmpty());
  for (int i = 0; i < 3; ++i) add("crowd", WaitRank::kYoung, 0s);
  EXPECT_THAT(choose(17), UnorderedElementsAre(2, 3, 4));
}

TEST_F(RoomTest, RemembersForAWhileWhoseConnectionsWereCut) {
  for (int i = 0; i < 3; ++i) add("crowd", WaitRank::kNoHead);
  EXPECT_THAT(choose(17), SizeIs(3));
  waiting_.clear();
  add("new", WaitRank::kNoHead, 9s);
  add("new", WaitRank::kNoHead, 9s);
  add("crowd", WaitRank::kYoung, 0s);
  EXPECT_THAT(choose(15), ElementsAre(2)) << "three cut connections weigh as three more";
  now_ += 11s;
  EXPECT_THAT(choose(15), ElementsAre(0));
}

TEST_F(RoomTest, HoldsNoIdleConnectionAgainstItsPeer) {
  for (int i = 0; i < 4; ++i) add("idle", WaitRank::kIdle);
  EXPECT_THAT(choose(17), SizeIs(4));
  waiting_.clear();
  add("idle", WaitRank::kYoung, 0s);
  EXPECT_THAT(choose(17), IsEmpty());
}

}  // namespace
}  // namespace gpuward::http
