#include "exporter/nccl_pair/figures.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_clock.h"
#include "tests/unit/exporter/nccl_pair/fake_all_reduce.h"

namespace gpuward::exporter::nccl_pair {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr std::uint64_t kMiB = 1U << 20U;
const GivesUp kNever = [] { return false; };

Figures figures_of(const std::vector<std::uint64_t>& nanoseconds) {
  return {.nanoseconds = nanoseconds, .wrong_values = 0};
}

// tests/testdata/nccl/v2.13-h100-two-nodes.txt: two nodes of 8 H100, 128 MiB in 750.7 us are 335.25
// GB/s.
TEST(BusBandwidth, IsThatOfNcclTests) {
  const Figures measured = figures_of({kTimedRounds * 750'700});

  const BestSize best = best_of(measured, measured, 16);

  EXPECT_NEAR(best.bus_bandwidth, 335.25, 0.05);  // the time is rounded
  EXPECT_EQ(best.bytes, 128 * kMiB);
}

TEST(BusBandwidth, IsThatOfTheSlowerSideAndOfTheBestSize) {
  const Figures left = figures_of({20'000'000, 90'000'000, 80'000'000});
  const Figures right = figures_of({40'000'000, 30'000'000, 70'000'000});

  const BestSize best = best_of(left, right, 2);

  EXPECT_EQ(best.bytes, 512 * kMiB);  // 40, 90 and 80 ms count
  EXPECT_NEAR(best.bus_bandwidth, 512 * 1.048576e6 * 20 / 80e6, 1e-6);
}

TEST(Sizes, AreThoseThatFit) {
  EXPECT_TRUE(sizes_within(128 * kMiB - 1).empty());
  EXPECT_THAT(sizes_within(512 * kMiB), ElementsAre(128 * kMiB, 256 * kMiB, 512 * kMiB));
  EXPECT_EQ(sizes_within(100'000 * kMiB).size(), kSizes.size());
  EXPECT_EQ(size_text(kSizes.front()), "128 MiB");
  EXPECT_EQ(size_text(kSizes.back()), "1 GiB");
}

TEST(Measure, TimesTwentyRoundsAfterFiveOfEachSize) {
  fakes::FakeClock clock;
  FakeAllReduce gpus;
  gpus.on_run = [&](std::uint64_t, unsigned times, const GivesUp&) {
    clock.advance(times * 3ms);
    return Status();
  };
  gpus.wrong = 7;

  const auto figures = measure(gpus, sizes_within(256 * kMiB), kNever, clock);

  ASSERT_TRUE(figures);
  EXPECT_THAT(figures->nanoseconds, ElementsAre(60'000'000, 60'000'000));
  EXPECT_EQ(figures->wrong_values, 14U);
  EXPECT_THAT(gpus.runs, ElementsAre(testing::Pair(128 * kMiB, 5), testing::Pair(128 * kMiB, 20),
                                     testing::Pair(256 * kMiB, 5), testing::Pair(256 * kMiB, 20)));
}

TEST(Measure, EndsAtTheFirstError) {
  fakes::FakeClock clock;
  FakeAllReduce gpus;
  gpus.on_run = [](std::uint64_t, unsigned, const GivesUp&) -> Status {
    return fail(ErrorKind::kUnavailable, "ncclAllReduce: unhandled cuda error");
  };

  const auto figures = measure(gpus, kSizes, kNever, clock);

  ASSERT_FALSE(figures);
  EXPECT_EQ(figures.error().message, "ncclAllReduce: unhandled cuda error");
  EXPECT_EQ(gpus.runs.size(), 1U);
}

}  // namespace
}  // namespace gpuward::exporter::nccl_pair
