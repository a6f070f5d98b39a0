// tests/neighbours: the programs in the cache and their versions, and the contents of the cache
// after a failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "core/runtime/files.h"
#include "tests/places.inc"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace gpuward::dev {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

// Answers as a Go that can build all of them; builds a file for each package.
constexpr const char* kGo = R"(#!/bin/bash
case $1 in
  env) echo go1.99.0; exit ;;
  build) ;;
  *) exit 1 ;;
esac
[ -z "$GO_FAILS" ] || { echo "cannot compile it" >&2; exit 1; }
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=$2; shift 2 ;;
    -ldflags | -tags) shift 2 ;;
    -* | build) shift ;;
    *) touch "$out${1##*/}"; shift ;;
  esac
done
)";

class Neighbours : public ::testing::Test {
 protected:
  Neighbours() { fs::permissions(folder_.write("go", kGo), fs::perms::owner_all); }

  [[nodiscard]] support::Process::Outcome run(std::vector<std::string> arguments,
                                              const std::string& go_fails = "") const {
    arguments.insert(arguments.begin(), GPUWARD_SOURCE_DIR "/tests/neighbours/neighbours");
    auto outcome = support::Process::run({.argv = std::move(arguments),
                                          .env = {{"GPUWARD_CACHE", cache().string()},
                                                  {"GO", (folder_.path() / "go").string()},
                                                  {"GO_FAILS", go_fails}}});
    if (outcome) return *std::move(outcome);
    ADD_FAILURE() << outcome.error().message;
    return {.exit_code = -1, .output = {}, .error_output = {}};
  }
  [[nodiscard]] fs::path cache() const { return folder_.path() / "cache"; }
  // The files in the cache, including hidden ones.
  [[nodiscard]] std::vector<std::string> in_cache() const {
    std::vector<std::string> names;
    if (!fs::exists(cache())) return names;
    for (const auto& entry : fs::directory_iterator(cache())) {
      if (entry.path().filename() != ".building") names.push_back(entry.path().filename());
    }
    return names;
  }

 private:
  support::TempDir folder_;
};

TEST_F(Neighbours, HaveAVersionEach) {
  const auto said = run({"list"});
  EXPECT_EQ(said.exit_code, 0) << said.error_output;
  std::istringstream lines(said.output);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_TRUE(std::regex_search(
        line, std::regex("^[a-z-]+ " + cache().string() + "/[a-z-]+-[0-9]+[.]\\S+ \\S+")))
        << line;
  EXPECT_GE(count, 10);
}

TEST_F(Neighbours, AreBuiltOnce) {
  const auto first = run({"need", "kwok"});
  EXPECT_EQ(first.exit_code, 0) << first.error_output;
  EXPECT_THAT(first.output, HasSubstr("==> building kwok"));
  const std::string folder = run({"folder", "kwok"}).output;
  EXPECT_TRUE(fs::exists(folder.substr(0, folder.find('\n')) + "/kwok")) << folder;
  EXPECT_EQ(run({"need", "kwok"}).output, "");
}

// The programs of one version share a folder: a new program replaces nothing.
TEST_F(Neighbours, ShareTheFolderOfTheirVersion) {
  EXPECT_EQ(run({"need", "api-server"}).exit_code, 0);
  EXPECT_EQ(run({"need", "kubelet"}).exit_code, 0);
  EXPECT_EQ(run({"need", "api-server"}).output, "");
  EXPECT_EQ(in_cache().size(), 1U);
}

TEST_F(Neighbours, LeaveNothingIfTheyCannotBeBuilt) {
  const auto said = run({"need", "kwok"}, "yes");
  EXPECT_NE(said.exit_code, 0);
  EXPECT_THAT(said.error_output, HasSubstr("cannot compile it"));
  EXPECT_THAT(in_cache(), ::testing::IsEmpty());
}

TEST_F(Neighbours, AreNamedIfAnotherIsAskedFor) {
  const auto said = run({"need", "kwick"});
  EXPECT_NE(said.exit_code, 0);
  EXPECT_THAT(said.error_output, HasSubstr("no kwick in the table: it has civetweb, "));
}

}  // namespace
}  // namespace gpuward::dev
