// docs/configuration.md: compares the flags of both programs with their --help.
#include <gmock/gmock.h>

#include <ranges>
#include <regex>

#include "exporter/config/seed_keys.h"
#include "tests/reference/help.h"
#include "tests/reference/page.h"

namespace gpuward::reference {
namespace {

using testing::ContainerEq;

std::set<Flag> documented_flags(std::string_view program) {
  std::set<Flag> flags;
  for (const Cells& row : rows_below("docs/configuration.md", "Flags of " + std::string(program))) {
    EXPECT_EQ(row.size(), 6U) << row.front();
    if (row.size() != 6) continue;
    const Flag flag{.command = row[0],
                    .name = row[1],
                    .argument = row[2],
                    .preset = row[3],
                    .environment = row[4]};
    EXPECT_TRUE(flags.insert(flag).second) << "there twice: " << row[1];
    EXPECT_NE(row[5], "") << row[0] << " " << row[1] << " has no meaning";
  }
  return flags;
}

TEST(FlagsReference, IsWhatTheExporterSaysOfItself) {
  EXPECT_THAT(documented_flags("gpuward-exporter"), ContainerEq(flags_of("gpuward-exporter")));
}

TEST(FlagsReference, IsWhatTheRemediatorSaysOfItself) {
  EXPECT_THAT(documented_flags("gpuward-remediator"), ContainerEq(flags_of("gpuward-remediator")));
}

std::set<std::string> documented_variables(std::string_view heading) {
  std::set<std::string> names;
  for (const Cells& row : rows_below("docs/configuration.md", heading)) names.insert(row.front());
  return names;
}

TEST(FlagsReference, HasTheOldNamesOfTheSettingsOfTheReplacedSuite) {
  const auto known = exporter::seed_keys();

  EXPECT_THAT(documented_variables("Old names"),
              ContainerEq(std::set<std::string>(known.begin(), known.end())));
}

// The program reads them in one place, each by its name.
TEST(FlagsReference, HasTheVariablesOfTheSweep) {
  const std::string source = tree_file("exporter/commands/sweep_settings.cpp");
  const std::regex name("\"([A-Z_]{4,})\"");
  std::set<std::string> read;
  for (std::sregex_iterator it(source.begin(), source.end(), name), end; it != end; ++it) {
    read.insert((*it)[1]);
  }

  EXPECT_THAT(documented_variables("Variables of the sweep"), ContainerEq(read));
}

}  // namespace
}  // namespace gpuward::reference
