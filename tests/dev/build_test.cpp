// How the programs are built: the presets, and the compiler flags of every file of gpuward.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/places.inc"

namespace gpuward::dev {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

namespace fs = std::filesystem;

Json json_file(const fs::path& path) {
  const auto text = read_file(path);
  EXPECT_TRUE(text) << path;
  return parse_json(text.value_or("")).value_or(Json());
}

// The sanitizers of each preset that a developer may choose.
std::map<std::string, std::string> sanitizers_of_presets() {
  std::map<std::string, std::string> out;
  const Json presets = json_file(fs::path(GPUWARD_SOURCE_DIR) / "CMakePresets.json");
  for (const Json& preset : member_at(presets, "configurePresets")) {
    if (preset.contains("hidden")) continue;
    out[string_at(preset, "name")] =
        string_at(member_at(preset, "cacheVariables"), "GPUWARD_SANITIZE");
  }
  return out;
}

TEST(Presets, AreTheFourThatPeopleAreTold) {
  using ::testing::Pair;
  EXPECT_THAT(sanitizers_of_presets(),
              UnorderedElementsAre(Pair("release", ""), Pair("debug", ""),
                                   Pair("asan", "address,undefined"), Pair("tsan", "thread")));
}

// One preset uses the second compiler, so that `./dev test --all` compiles the same code with both.
TEST(Presets, HaveOneForClang) {
  const Json presets = json_file(fs::path(GPUWARD_SOURCE_DIR) / "CMakePresets.json");
  std::string compiler;
  for (const Json& preset : member_at(presets, "configurePresets")) {
    if (string_at(preset, "name") != "asan") continue;
    compiler = string_at(member_at(preset, "cacheVariables"), "CMAKE_CXX_COMPILER");
  }
  EXPECT_EQ(compiler, "clang++-19");
}

TEST(Programs, LieInBinOfTheirBuildFolder) {
  EXPECT_EQ(fs::path(GPUWARD_BIN_DIR).filename(), "bin");
  const Json presets = json_file(fs::path(GPUWARD_SOURCE_DIR) / "CMakePresets.json");
  EXPECT_EQ(string_at(member_at(presets, "configurePresets").at(0), "binaryDir"),
            "${sourceDir}/build/${presetName}");
}

// CMake leaves gpuward-amd-health and its tests out if gRPC is missing.
TEST(Programs, AreAllBuilt) {
  for (const char* name :
       {"gpuward-exporter", "gpuward-remediator", "gpuwardctl", "gpuward-amd-health"})
    EXPECT_TRUE(fs::exists(fs::path(GPUWARD_BIN_DIR) / name)) << name;
}

TEST(EveryFile, IsCompiledAsCpp23WithWarningsThatAreErrors) {
  const Json commands =
      json_file(fs::path(GPUWARD_BIN_DIR).parent_path() / "compile_commands.json");
  ASSERT_GT(commands.size(), 100U);
  for (const Json& entry : commands) {
    // gpuward is not responsible for warnings in generated code.
    if (string_at(entry, "file").find("/generated/") != std::string::npos) continue;
    const std::string command = string_at(entry, "command") + " ";
    EXPECT_THAT(command, ContainsRegex(" -std=c[+][+](23|2b) ")) << string_at(entry, "file");
    for (const char* flag :
         {" -Wall ", " -Wextra ", " -Wpedantic ", " -Wshadow ", " -Wconversion ", " -Werror "}) {
      EXPECT_THAT(command, HasSubstr(flag)) << string_at(entry, "file");
    }
  }
}

TEST(Style, IsSaidToTheTools) {
  for (const char* name : {".clang-format", ".clang-tidy"}) {
    const auto text = read_file(fs::path(GPUWARD_SOURCE_DIR) / name);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_NE(*text, "");
  }
}

}  // namespace
}  // namespace gpuward::dev
