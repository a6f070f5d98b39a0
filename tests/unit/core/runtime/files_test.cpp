#include "core/runtime/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstddef>

#include "tests/support/temp_dir.h"

namespace gpuward {
namespace {

using support::TempDir;
using ::testing::HasSubstr;

std::size_t entries_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(ReadFile, ReturnsEveryByte) {
  const TempDir folder;
  const std::string content("a\0b\n", 4);
  EXPECT_EQ(read_file(folder.write("f", content)), content);
}

TEST(ReadFile, ReadsFilesOfTheKernelThatSayTheirSizeIsZero) {
  const auto content = read_file("/proc/self/status");
  ASSERT_TRUE(content) << content.error().message;
  EXPECT_THAT(*content, HasSubstr("Pid:"));
}

TEST(ReadFile, StopsAtTheCap) {
  const TempDir folder;
  const auto path = folder.write("f", "12345");
  EXPECT_TRUE(read_file(path, 5));
  EXPECT_EQ(read_file(path, 4).error().kind, ErrorKind::kTooLarge);
  EXPECT_EQ(read_file("/dev/zero", 100'000).error().kind, ErrorKind::kTooLarge);
}

TEST(ReadFile, NamesThePathThatIsNotThere) {
  const TempDir folder;
  const auto result = read_file(folder / "absent");
  EXPECT_EQ(result.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(result.error().message, HasSubstr((folder / "absent").string()));
}

TEST(ReadFile, RefusesAFolderAndDoesNotWaitForTheWriterOfAFifo) {
  const TempDir folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(read_file(folder / "fifo").error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(read_file(folder.path()).error().kind, ErrorKind::kInvalid);
}

TEST(WriteFileAtomically, ReplacesTheContentAndLeavesNothingElseBehind) {
  const TempDir folder;
  const auto path = folder.write("state", "old and longer");
  ASSERT_TRUE(write_file_atomically(path, "new"));
  EXPECT_EQ(read_file(path), "new");
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

TEST(WriteFileAtomically, GivesTheFileTheModeAskedFor) {
  const TempDir folder;
  ASSERT_TRUE(write_file_atomically(folder / "secret", "x", 0600));
  const auto mode = std::filesystem::status(folder / "secret").permissions();
  EXPECT_EQ(static_cast<unsigned>(mode), 0600U);
}

TEST(WriteFileAtomically, NeverShowsAReaderHalfOfAFile) {
  const TempDir folder;
  const auto path = folder / "state";
  ASSERT_TRUE(write_file_atomically(path, "one"));
  std::ifstream reader(path);
  ASSERT_TRUE(write_file_atomically(path, "two"));
  std::string seen;
  reader >> seen;
  EXPECT_EQ(seen, "one");  // an open reader keeps the old file: it was replaced, not rewritten
}

TEST(WriteFileAtomically, KeepsTheOldFileWhenItCannotReplaceIt) {
  const TempDir folder;
  std::filesystem::create_directories(folder / "state" / "full");
  EXPECT_FALSE(write_file_atomically(folder / "state", "x"));
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

TEST(WriteFileAtomically, NamesTheFolderThatIsNotThere) {
  const TempDir folder;
  const auto status = write_file_atomically(folder / "absent/state", "x");
  EXPECT_EQ(status.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(status.error().message, HasSubstr("absent/state"));
}

}  // namespace
}  // namespace gpuward
