#include "exporter/gpu/amd/gpu_metrics.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/fakes/amd_smi/amd_tree.h"

namespace gpuward::exporter::amd {
namespace {

using fake_amd::content_of;

// The sizes are those that AMD's own readers compute for each revision.
TEST(GpuMetrics, ReadsRevision3OfMi200) {
  const auto read = parse_gpu_metrics(content_of(
      "bytes 120 0:16=120 2:8=1 3:8=3 4:16=41 6:16=47 8:16=50 16:16=99 18:16=20 22:16=310 "
      "54:16=1700 58:16=1600 74:16=16 76:16=160"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->edge, 41);
  EXPECT_EQ(read->hotspot, 47);
  EXPECT_EQ(read->memory, 50);
  EXPECT_EQ(read->power_watts, 310);
  EXPECT_DOUBLE_EQ(*read->utilization_ratio, 0.99);
  EXPECT_EQ(read->sm_clock_mhz, 1700);
  EXPECT_EQ(read->memory_clock_mhz, 1600);
  EXPECT_EQ(read->pcie_width, 16U);
  EXPECT_EQ(read->pcie_generation, 4U);
  EXPECT_EQ(read->energy_joules, std::nullopt);
}

TEST(GpuMetrics, ReadsRevisions4To6OfMi300) {
  struct Case {
    std::string bytes;
    const char* name;
  };
  for (const Case& each :
       {Case{"bytes 288 0:16=288 2:8=1 3:8=4 4:16=60 6:16=55 10:16=700 24:64=131072 88:64=7 "
             "240:16=2100 280:16=1300",
             "1.4"},
        Case{"bytes 360 0:16=360 2:8=1 3:8=5 4:16=60 6:16=55 10:16=700 88:64=131072 152:64=7 "
             "312:16=2100 352:16=1300",
             "1.5"},
        Case{"bytes 1664 0:16=1664 2:8=1 3:8=6 4:16=60 6:16=55 10:16=700 16:64=131072 104:64=7 "
             "264:16=2100 304:16=1300",
             "1.6"}}) {
    const auto read = parse_gpu_metrics(content_of(each.bytes));
    ASSERT_TRUE(read) << each.name;
    EXPECT_EQ(read->edge, std::nullopt) << each.name;
    EXPECT_EQ(read->hotspot, 60) << each.name;
    EXPECT_EQ(read->power_watts, 700) << each.name;
    EXPECT_EQ(read->energy_joules, 2) << each.name;
    EXPECT_EQ(read->pcie_replays, 7U) << each.name;
    EXPECT_EQ(read->sm_clock_mhz, 2100) << each.name;
    EXPECT_EQ(read->memory_clock_mhz, 1300) << each.name;
  }
}

TEST(GpuMetrics, SaysWhichXgmiLinksAreDownFromRevision7) {
  const auto read =
      parse_gpu_metrics(content_of("bytes 2208 0:16=2208 2:8=1 3:8=7 264:16=1 266:16=0 268:16=1"));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->links.size(), 3U);
  EXPECT_EQ(read->links[0], true);
  EXPECT_EQ(read->links[1], false);
}

TEST(GpuMetrics, LeavesOutWhatTheFirmwareMarksWithAllOnes) {
  const auto read = parse_gpu_metrics(content_of("bytes 3872 0:16=3872 2:8=1 3:8=8"));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, GpuMetrics());
}

TEST(GpuMetrics, RefusesUnknownRevisionsAndOtherLayoutsOfKnownOnes) {
  for (const char* const bytes :
       {"bytes 120 0:16=120 2:8=1 3:8=9", "bytes 200 0:16=200 2:8=2 3:8=4",
        // A draft of 1.6, which some kernels also had.
        "bytes 384 0:16=384 2:8=1 3:8=6"}) {
    EXPECT_FALSE(parse_gpu_metrics(content_of(bytes))) << bytes;
  }
}

TEST(GpuMetrics, NeverReadsPastTheBytesThatAreThere) {
  for (const char* const bytes : {"bytes 0", "bytes 3 0:16=120", "bytes 119 0:16=120 2:8=1 3:8=3",
                                  "bytes 4 0:16=4 2:8=1 3:8=3"}) {
    EXPECT_FALSE(parse_gpu_metrics(content_of(bytes))) << bytes;
  }
}

TEST(GpuMetrics, KnowsTheSpeedsOfPciExpressOnly) {
  EXPECT_EQ(pcie_generation_of(2.5), 1U);
  EXPECT_EQ(pcie_generation_of(32), 5U);
  EXPECT_EQ(pcie_generation_of(64), 6U);
  EXPECT_EQ(pcie_generation_of(0), std::nullopt);
  EXPECT_EQ(pcie_generation_of(6553.5), std::nullopt);
}

}  // namespace
}  // namespace gpuward::exporter::amd
