#include "remediator/inbox/sources/gpu_claims.h"

#include <gmock/gmock.h>

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;

const std::chrono::system_clock::time_point kToday{std::chrono::hours(500'000)};

WeighedGpus weigh(const GpuClaims& claims) { return weigh_gpus({"1650"}, {{"1650", claims}}); }

TEST(GpuClaims, LetAGpuSpeakThatNobodyElseHasReported) {
  EXPECT_THAT(weigh_gpus({"1650", "1651"}, {}).speaking, ElementsAre("1650", "1651"));
  EXPECT_THAT(weigh({.own_since = kToday, .others_until = {}}).speaking, ElementsAre("1650"));
}

TEST(GpuClaims, LetABoardSpeakThatHasLeftItsOldMachine) {
  const auto weighed = weigh({.own_since = kToday - hours(1), .others_until = kToday - hours(2)});

  EXPECT_THAT(weighed.speaking, ElementsAre("1650"));
}

TEST(GpuClaims, BelieveNobodyWhileTwoNodesReportAGpu) {
  const auto weighed = weigh({.own_since = kToday - hours(1), .others_until = kToday});

  EXPECT_THAT(weighed.contested, ElementsAre("1650"));
  EXPECT_THAT(weighed.speaking, ElementsAre());
}

// The node was away while another one reported its GPU.
TEST(GpuClaims, BelieveNoGpuThatAnotherNodeHasReportedInBetween) {
  EXPECT_THAT(weigh({.own_since = kToday - hours(48), .others_until = kToday - hours(2)}).contested,
              ElementsAre("1650"));
}

TEST(GpuClaims, BelieveNobodyIfNoHistoryIsKnown) {
  EXPECT_THAT(weigh({.own_since = {}, .others_until = kToday - hours(2)}).contested,
              ElementsAre("1650"));
}

}  // namespace
}  // namespace gpuward::remediator
