// A seed determines a whole run: a second run is the same, line by line.
#include <gtest/gtest.h>

#include <set>

#include "tests/simulation/run.h"

namespace gpuward::remediator::simulation {
namespace {

TEST(Replay, TellsTheSameStoryAgainAndAnotherForEachSeed) {
  constexpr std::uint64_t kSeeds = 20;
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Outcome first = run_seed(seed);
    const Outcome again = run_seed(seed);
    hashes.insert(first.hash);

    EXPECT_EQ(first.hash, again.hash) << "seed " << seed;
    EXPECT_EQ(first.lines, again.lines) << "seed " << seed;
  }
  EXPECT_EQ(hashes.size(), kSeeds);
}

TEST(Replay, BreaksAtTheSameLineAgain) {
  std::uint64_t seed = 0;
  Outcome first = run_seed(seed, Size::kAny, Sabotage::kAnnouncement);
  while (first.holds() && seed < 100) {
    first = run_seed(++seed, Size::kAny, Sabotage::kAnnouncement);
  }
  const Outcome again = run_seed(seed, Size::kAny, Sabotage::kAnnouncement);

  ASSERT_FALSE(first.holds());
  EXPECT_EQ(first.invariant, again.invariant);
  EXPECT_EQ(first.trace, again.trace);
}

}  // namespace
}  // namespace gpuward::remediator::simulation
