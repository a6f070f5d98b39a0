// Runs each rule of lint_rules() on each dashboard, apart from the exceptions of dashboards/.lint,
// and on a dashboard that breaks it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>

#include "core/runtime/yaml.h"
#include "tests/dashboards/lint_rules.h"
#include "tests/dashboards/panels.h"
#include "tests/support/require.h"

namespace gpuward::dashboards {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

using Words = std::tuple<std::string, std::string, std::string>;

// Rule, dashboard, panel.
std::set<Words> exceptions() {
  const auto file = YamlFile::load(folder() / ".lint");
  if (!file) throw std::runtime_error(file.error().message);
  std::set<Words> out;
  for (const auto& [rule, excluded] : file->root().map("exclusions").entries()) {
    std::string reason;
    excluded.require("reason", reason);
    for (const YamlMap& entry : excluded.maps("entries")) {
      std::string dashboard, panel;
      entry.require("dashboard", dashboard);
      entry.require("panel", panel);
      out.emplace(rule, dashboard, panel);
    }
  }
  if (auto status = file->finish(); !status) throw std::runtime_error(status.error().message);
  return out;
}

class DashboardLint : public ::testing::Test {
 protected:
  void SetUp() override { GPUWARD_REQUIRE(support::why_no_program("promtool")); }
};

TEST_F(DashboardLint, FindsNothingButTheExceptions) {
  std::set<Words> unused = exceptions();
  const std::set<Words> allowed = unused;
  for (const Dashboard& one : load_dashboards()) {
    for (const LintRule& rule : lint_rules()) {
      for (const Problem& problem : rule.problems_of(one.json)) {
        const Words found = {rule.name, string_at(one.json, "title"), problem.panel};
        EXPECT_TRUE(allowed.contains(found))
            << rule.name << ": " << one.uid << ", " << problem.panel << ": " << problem.what;
        unused.erase(found);
      }
    }
  }
  for (const auto& [rule, dashboard, panel] : unused) {
    ADD_FAILURE() << "not needed: " << rule << " for " << dashboard << ", " << panel;
  }
}

TEST_F(DashboardLint, FindsWhatWasMadeWrongOnPurpose) {
  const std::vector<Dashboard> all = load_dashboards();
  const auto node = std::ranges::find(all, "gpuward-node", &Dashboard::uid);
  ASSERT_NE(node, all.end());
  for (const LintRule& rule : lint_rules()) {
    EXPECT_THAT(rule.problems_of(node->json), IsEmpty()) << rule.name;
    Json spoiled = node->json;
    rule.spoil(spoiled);
    EXPECT_THAT(rule.problems_of(spoiled), Not(IsEmpty())) << rule.name;
  }
}

TEST(DashboardStates, AreRedIfAnOperatorIsNeeded) {
  const std::set<Words> wanted = {
      {"Severity", "4", "isolate"},     {"Exporter", "0", "not scraped"},
      {"Driver", "0", "not answering"}, {"Kernel log", "0", "not read"},
      {"Stop switch", "1", "stopped"},  {"Circuit breaker", "1", "open"},
      {"Leaders", "0", "no leader"},    {"Leaders", "2", "two leaders"}};
  std::set<Words> red;  // panel, number, word
  for (const Dashboard& one : load_dashboards()) {
    for (const Json& panel : one.json.at("panels")) {
      if (panel.at("type") != "stat") continue;
      for (const Json& mapping : member_at(panel["fieldConfig"]["defaults"], "mappings")) {
        for (const auto& [number, state] : mapping.at("options").items()) {
          if (string_at(state, "color") != "red") continue;
          red.emplace(string_at(panel, "title"), number, string_at(state, "text"));
        }
      }
    }
  }
  EXPECT_EQ(red, wanted);
}

}  // namespace
}  // namespace gpuward::dashboards
