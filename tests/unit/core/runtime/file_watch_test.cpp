
#include <gtest/gtest.h>

#include "core/runtime/files.h"
#include "tests/support/temp_dir.h"

namespace gpuward {
namespace {

using support::TempDir;
namespace fs = std::filesystem;

// A ConfigMap as the kubelet mounts it: config.yaml -> ..data/config.yaml, ..data -> a folder per
// version.
class MountedConfigMap {
 public:
  MountedConfigMap() {
    publish("v1", "mode: observe\n");
    fs::create_symlink("..data/config.yaml", folder_ / "config.yaml");
  }
  void publish(const std::string& version, std::string_view content) {
    fs::create_directory(folder_ / version);
    folder_.write(version + "/config.yaml", content);
    fs::create_symlink(version, folder_ / "..data_tmp");
    fs::rename(folder_ / "..data_tmp", folder_ / "..data");
  }
  [[nodiscard]] fs::path file() const { return folder_ / "config.yaml"; }

 private:
  TempDir folder_;
};

TEST(FileWatch, SeesNoChangeIfThereIsNone) {
  const TempDir folder;
  FileWatch watch(folder.write("f", "x"));
  EXPECT_FALSE(watch.changed());
}

TEST(FileWatch, TellsOfAChangeOnce) {
  const TempDir folder;
  FileWatch watch(folder.write("f", "x"));
  folder.write("f", "xy");
  EXPECT_TRUE(watch.changed());
  EXPECT_FALSE(watch.changed());
}

TEST(FileWatch, SeesTheSymlinkSwapOfAConfigMap) {
  MountedConfigMap map;
  FileWatch watch(map.file());
  map.publish("v2", "mode: cordon \n");  // as long as before
  EXPECT_TRUE(watch.changed());
  EXPECT_FALSE(watch.changed());
}

TEST(FileWatch, SeesAFileReplacedByOneOfTheSameSizeAndTime) {
  const TempDir folder;
  const auto path = folder.write("f", "x");
  const auto time = fs::last_write_time(path);
  FileWatch watch(path);
  ASSERT_TRUE(write_file_atomically(path, "y"));
  fs::last_write_time(path, time);
  EXPECT_TRUE(watch.changed());
}

TEST(FileWatch, CallsAMissingFileUnchangedUntilItIsBack) {
  const TempDir folder;
  const auto path = folder.write("f", "x");
  FileWatch watch(path);
  fs::rename(path, folder / "away");
  EXPECT_FALSE(watch.changed());
  folder.write("f", "new");
  EXPECT_TRUE(watch.changed());
}

TEST(FileWatch, SeesAFileThatWasNotThereAtFirst) {
  const TempDir folder;
  FileWatch watch(folder / "late");
  EXPECT_FALSE(watch.changed());
  folder.write("late", "x");
  EXPECT_TRUE(watch.changed());
}

}  // namespace
}  // namespace gpuward
