// docs/safety.md: its tables have each rule and each sabotage of the simulation, and no others.
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>
#include <set>

#include "tests/places.inc"
#include "tests/reference/page.h"
#include "tests/simulation/sabotage.h"

namespace gpuward::reference {
namespace {

using Names = std::set<std::string>;

constexpr std::size_t kRuleColumn = 2, kSabotageColumn = 3;

Names named_in(std::size_t column) {
  Names names;
  const std::regex name("[a-z-]+");
  for (const Cells& row : rows_below("docs/safety.md", "Invariants")) {
    EXPECT_EQ(row.size(), 5U) << row.front();
    const std::string& cell = row.at(column);
    names.insert(std::sregex_token_iterator(cell.begin(), cell.end(), name), {});
  }
  return names;
}

// The first text in each call of require(holds, "rule", what).
void add_rules_in(const std::string& source, Names& rules) {
  const std::regex name("\"([a-z-]+)\",");
  for (auto at = source.find("require("); at != std::string::npos;
       at = source.find("require(", at + 1)) {
    const std::string call = source.substr(at, source.find(';', at) - at);
    std::smatch found;
    if (std::regex_search(call, found, name)) rules.insert(found[1]);
  }
}

TEST(SafetyPage, HasEachRuleOfTheSimulation) {
  Names rules;
  const std::filesystem::path root = GPUWARD_SOURCE_DIR;
  for (const auto& file : std::filesystem::directory_iterator(root / "tests/simulation"))
    add_rules_in(tree_file(file.path().lexically_relative(root).string()), rules);

  EXPECT_THAT(named_in(kRuleColumn), testing::ContainerEq(rules));
}

TEST(SafetyPage, HasEachSabotageOfTheSimulation) {
  Names sabotages;
  for (const auto& known : remediator::simulation::kSabotages) sabotages.emplace(known.name);

  EXPECT_THAT(named_in(kSabotageColumn), testing::ContainerEq(sabotages));
}

}  // namespace
}  // namespace gpuward::reference
