// The version is declared in CMakeLists.txt, and all other files with it must follow (`./dev
// manifests` writes it).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "core/runtime/files.h"
#include "tests/manifests/tools.h"
#include "tests/places.inc"
#include "tests/support/process.h"

namespace gpuward::release {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// The text of the pattern's last parentheses, at every match.
std::vector<std::string> versions_in(const std::string& text, const std::string& pattern) {
  const std::regex found(pattern);
  std::vector<std::string> out;
  for (std::sregex_iterator one(text.begin(), text.end(), found), end; one != end; ++one)
    out.push_back(one->str(one->size() - 1));
  return out;
}

TEST(Version, OfTheChartIsThatOfTheTree) {
  const std::string chart = manifests::text_of("manifests/chart/gpuward/Chart.yaml");
  EXPECT_THAT(versions_in(chart, "\n(version|appVersion): (.*)"),
              AllOf(SizeIs(2), Each(GPUWARD_VERSION)));
}

TEST(Version, OfThePlainYamlIsThatOfTheTree) {
  const std::string label = "app\\.kubernetes\\.io/version: \"?([^\"\n]*)";
  for (const auto& entry : fs::directory_iterator(fs::path(GPUWARD_SOURCE_DIR) / "manifests")) {
    if (entry.path().extension() != ".yaml") continue;
    EXPECT_THAT(versions_in(read_file(entry.path()).value_or(""), label), Each(GPUWARD_VERSION))
        << entry.path();
  }
  EXPECT_THAT(versions_in(manifests::text_of("manifests/exporter.yaml"), label), Not(IsEmpty()));
}

TEST(Version, OfImagesIsThatOfTheTreeWhereverTheyAreNamed) {
  const std::string image =
      "gpuward-(exporter|remediator|exporter-diagnostics):([0-9]+[0-9.]*[0-9])";
  std::size_t named = 0;
  for (const char* folder : {"docs", "kustomize", "manifests"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(GPUWARD_SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file()) continue;
      const auto versions = versions_in(read_file(entry.path()).value_or(""), image);
      named += versions.size();
      EXPECT_THAT(versions, Each(GPUWARD_VERSION)) << entry.path();
    }
  }
  EXPECT_GT(named, 10U);
  EXPECT_THAT(versions_in(manifests::text_of("Containerfile"), image), Each(GPUWARD_VERSION));
}

TEST(Version, IsWhatTheProgramsSay) {
  for (const std::string program : {"gpuward-exporter", "gpuward-remediator", "gpuwardctl"}) {
    const auto said = support::Process::run({.argv = {GPUWARD_BIN_DIR "/" + program, "--version"}});
    ASSERT_TRUE(said) << said.error().message;
    EXPECT_EQ(said->output, program + " " GPUWARD_VERSION "\n");
  }
}

}  // namespace
}  // namespace gpuward::release
