#include "remediator/inbox/sources/ignored_episodes.h"

#include <gtest/gtest.h>

namespace gpuward::remediator {
namespace {

AlertSignal firing_since(WallTime start) {
  return {.node = "gpu-01",
          .severity = Severity::kReboot,
          .alertname = "GpuNodeBad",
          .fingerprint = "ab",
          .firing = true,
          .starts_at = start,
          .ends_at = {}};
}

const WallTime kStart = WallTime(std::chrono::hours(500'000));

TEST(IgnoredEpisodes, AreNewOnceByAlertStartAndReason) {
  IgnoredEpisodes episodes;

  EXPECT_TRUE(episodes.is_new(firing_since(kStart), Ignored::kOlderThanNode));
  EXPECT_FALSE(episodes.is_new(firing_since(kStart), Ignored::kOlderThanNode));
  EXPECT_TRUE(episodes.is_new(firing_since(kStart), Ignored::kLateRepeat));
  EXPECT_TRUE(
      episodes.is_new(firing_since(kStart + std::chrono::hours(1)), Ignored::kOlderThanNode));
}

TEST(IgnoredEpisodes, TakeABoundedAmountOfMemoryAndAreSaidAgainBeyondIt) {
  IgnoredEpisodes episodes;
  for (std::size_t i = 0; i < IgnoredEpisodes::kMost; ++i) {
    EXPECT_TRUE(
        episodes.is_new(firing_since(kStart + std::chrono::seconds(i)), Ignored::kNoSuchNode));
  }

  EXPECT_TRUE(episodes.is_new(firing_since(kStart - std::chrono::hours(1)), Ignored::kNoSuchNode));
  EXPECT_TRUE(episodes.is_new(firing_since(kStart), Ignored::kNoSuchNode));
}

}  // namespace
}  // namespace gpuward::remediator
