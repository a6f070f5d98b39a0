#include "exporter/host/gpu_lock.h"

#include <gmock/gmock.h>

#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;

TEST(GpuLock, IsHadByOneAndNamesIt) {
  const support::TempDir folder;
  {
    const auto first = GpuLock::take(folder.path(), "1-dcgm-diag-l2");
    ASSERT_TRUE(first) << first.error().message;

    const auto second = GpuLock::take(folder.path(), "4-dcgm-diag-l4");

    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::kBlocked);
    EXPECT_EQ(second.error().message, "1-dcgm-diag-l2 has the GPUs");
  }
  EXPECT_TRUE(GpuLock::take(folder.path(), "4-dcgm-diag-l4")) << "it was given back";
}

TEST(GpuLock, IsGivenBackOnceHoweverOftenItIsMoved) {
  const support::TempDir folder;
  auto first = GpuLock::take(folder.path(), "one");
  ASSERT_TRUE(first);
  {
    const GpuLock moved = *std::move(first);
    EXPECT_FALSE(GpuLock::take(folder.path(), "two"));
  }
  EXPECT_TRUE(GpuLock::take(folder.path(), "two"));
}

TEST(GpuLock, HoldsNothingIfNobodySharesAFolder) {
  const support::TempDir folder;
  const auto first = GpuLock::take(folder / "none", "one");
  ASSERT_TRUE(first);
  EXPECT_TRUE(GpuLock::take(folder / "none", "two"));
}

// Only root may write into the folder, but a link would make this process lock another file than
// the others.
TEST(GpuLock, IsNotTakenThroughALink) {
  const support::TempDir folder;
  std::filesystem::create_symlink(folder / "elsewhere", folder / "diagnostic.lock");

  const auto taken = GpuLock::take(folder.path(), "one");

  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(taken.error().message, HasSubstr("diagnostic.lock"));
}

}  // namespace
}  // namespace gpuward::exporter
