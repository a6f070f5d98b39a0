// The finder of the driver's library below a root folder: on every platform that docs/install.md
// names, and after the driver came, changed or went.
#include "exporter/gpu/nvidia/driver_root.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/fakes/nvml/fake_nvml.h"
#include "tests/support/driver_places.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/exporter/gpu/nvidia/fake_library.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;
using fake_nvml::FakeNvml;
using nvml::library_below;
using support::DriverPlace;
using ::testing::SizeIs;

constexpr const char* kName = "libnvidia-ml.so.1";

// The root file system of a node, with the fake library under the version's name and a link to it,
// as NVIDIA's installer and every package leave them.
class NodeTree {
 public:
  fs::path put(const std::string& folder, const std::string& version = "550.54.15") const {
    const fs::path place = path(folder);
    fs::create_directories(place);
    const std::string file = "libnvidia-ml.so." + version;
    fs::copy_file(FakeNvml::library(), place / file, fs::copy_options::overwrite_existing);
    fs::remove(place / kName);
    fs::create_symlink(file, place / kName);
    return place / kName;
  }
  [[nodiscard]] fs::path path(const std::string& absolute) const {
    return folder_.path() / absolute.substr(1);
  }

 private:
  support::TempDir folder_;
};

LibraryPaths paths_of(const fs::path& root) {
  LibraryPaths paths;
  paths.driver_root = root.string();
  paths.sys = "/nowhere";
  return paths;
}

class Platform : public ::testing::TestWithParam<DriverPlace> {};

TEST_P(Platform, HasItsLibraryWhereTheDocumentationSays) {
  const FakeNvml fake("healthy_8x_h100");
  const NodeTree node;
  const fs::path file = node.put(GetParam().folder);

  const VendorReading report =
      make_nvml_library(paths_of(node.path(GetParam().driver_root)))->read(ignore_progress);

  EXPECT_EQ(report.state, LibraryState::kReady) << report.fault;
  EXPECT_EQ(report.library, file);
  EXPECT_THAT(report.gpus, SizeIs(8));
}

#ifdef __x86_64__  // the table has the folders of this processor
INSTANTIATE_TEST_SUITE_P(Documented, Platform, ::testing::ValuesIn(support::driver_places()),
                         [](const auto& row) { return "Row" + std::to_string(row.index + 1); });
#endif
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Platform);

// Some distributions have libraries for 32 bits in `lib`.
TEST(DriverRoot, TakesTheFolderOfThisProcessorFirst) {
  const NodeTree node;
  node.put("/usr/lib");
  const fs::path file = node.put("/usr/lib64");

  EXPECT_EQ(library_below(node.path("/usr"), kName), file);
}

// Docker makes a folder if it cannot mount the file.
TEST(DriverRoot, TakesNoFolderForTheFile) {
  const NodeTree node;
  fs::create_directories(node.path("/usr/lib64") / kName);
  const fs::path file = node.put("/usr/lib");

  EXPECT_EQ(library_below(node.path("/usr"), kName), file);
}

TEST(DriverRoot, LeavesTheNameToTheLoaderIfTheRootDoesNotHaveIt) {
  const NodeTree node;

  EXPECT_EQ(library_below(node.path("/run/nvidia/driver"), kName), kName);
  EXPECT_EQ(library_below("", kName), kName);
}

TEST(DriverRoot, IsNotAskedForAPath) {
  const NodeTree node;
  node.put("/usr/lib64");

  EXPECT_EQ(library_below(node.path("/usr"), "/opt/libnvidia-ml.so.1"), "/opt/libnvidia-ml.so.1");
}

TEST(DriverRoot, IsSearchedAgainForADriverThatComesLater) {
  const FakeNvml fake("healthy_8x_h100");
  const NodeTree node;
  const auto library = make_nvml_library(paths_of(node.path("/run/nvidia/driver")));
  ASSERT_EQ(library->read(ignore_progress).state, LibraryState::kAbsent);

  const fs::path file = node.put("/run/nvidia/driver/usr/lib64");

  const VendorReading report = library->read(ignore_progress);
  EXPECT_EQ(report.state, LibraryState::kReady) << report.fault;
  EXPECT_EQ(report.library, file);
}

}  // namespace
}  // namespace gpuward::exporter
