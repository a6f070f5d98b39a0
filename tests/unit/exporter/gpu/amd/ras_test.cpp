#include "exporter/gpu/amd/ras.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/temp_dir.h"

namespace gpuward::exporter::amd {
namespace {

TEST(AmdRas, ReadsTheThreeCountsOfABlock) {
  // Kernel, drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c, amdgpu_ras_sysfs_read().
  const RasBlock block = parse_error_counts("umc", "ue: 1\nce: 14\nde: 2\n");
  EXPECT_EQ(block.block, "umc");
  EXPECT_EQ(block.uncorrected, 1U);
  EXPECT_EQ(block.corrected, 14U);
  EXPECT_EQ(block.deferred, 2U);
}

TEST(AmdRas, LeavesOutTheDeferredErrorsThatOldKernelsDoNotCount) {
  const RasBlock block = parse_error_counts("gfx", "ue: 0\nce: 3\n");
  EXPECT_EQ(block.uncorrected, 0U);
  EXPECT_EQ(block.deferred, std::nullopt);
}

TEST(AmdRas, TakesAnInaccessibleBlockForUnknownAndNotForZero) {
  const RasBlock block = parse_error_counts("umc", "Query currently inaccessible\n");
  EXPECT_EQ(block.uncorrected, std::nullopt);
  EXPECT_EQ(block.corrected, std::nullopt);
}

TEST(AmdRas, DoesNotBelieveTheMultiplesThatAFaultyDriverCounts) {
  EXPECT_EQ(parse_error_counts("umc", "ue: 1048560\nce: 2097120\n").uncorrected, std::nullopt);
  EXPECT_EQ(parse_error_counts("umc", "ue: 0\nce: 2097120\n").corrected, std::nullopt);
  EXPECT_EQ(parse_error_counts("umc", "ue: 0\nce: 1048561\n").corrected, 1048561U);
  EXPECT_EQ(believable_count(std::numeric_limits<std::uint64_t>::max()), std::nullopt);
}

TEST(AmdRas, DoesNotGuessAtGarbage) {
  for (const char* const text :
       {"", "ue:", "ue: -1\nce: x", "ue 1", ": 4", "ue: 99999999999999999999"}) {
    const RasBlock block = parse_error_counts("umc", text);
    EXPECT_EQ(block.uncorrected, std::nullopt) << text;
    EXPECT_EQ(block.corrected, std::nullopt) << text;
  }
}

TEST(AmdRas, HasNoBlocksIfThereIsNoFolder) {
  const support::TempDir folder;
  EXPECT_TRUE(read_ras(folder.path()).empty());
  EXPECT_EQ(read_bad_pages(folder.path()), std::nullopt);
}

TEST(AmdRas, CountsGivenUpWaitingAndStubbornPages) {
  // Kernel, amdgpu_ras.c, "DOC: AMDGPU RAS sysfs gpu_vram_bad_pages Interface".
  EXPECT_EQ(count_bad_pages("0x00000001 : 0x00001000 : R\n"
                            "0x00000002 : 0x00001000 : P\n"
                            "0x00000003 : 0x00001000 : F\n"),
            3U);
  EXPECT_EQ(count_bad_pages("\n"), 0U);
}

TEST(AmdRas, DoesNotCountPagesThatItHalfUnderstands) {
  EXPECT_EQ(count_bad_pages("0x00000001 : 0x00001000 : R\nno pages\n"), std::nullopt);
}

TEST(AmdRas, SumsOnlyIfEveryBlockAnswers) {
  EccCounters ecc;
  add_totals({{"umc", 3U, 1U, 0U}, {"gfx", 4U, 2U, 0U}}, ecc);
  EXPECT_EQ(ecc.uncorrected_volatile.total, 3U);
  EXPECT_EQ(ecc.corrected_volatile.total, 7U);
  EXPECT_EQ(ecc.uncorrected_volatile.dram, 1U);

  EccCounters partly;
  add_totals({{"umc", 3U, 1U, 0U}, {"gfx", {}, {}, {}}}, partly);
  EXPECT_EQ(partly.uncorrected_volatile.total, std::nullopt);
  EXPECT_EQ(partly.uncorrected_volatile.dram, 1U);
}

}  // namespace
}  // namespace gpuward::exporter::amd
