// The form of the dashboards: what Grafana needs to import them, and the rules of its
// dashboard-linter, which the Go module proxy does not have. Its one rule that does not count here:
// a choice of the instance, because pods' addresses change with every restart; nodes are chosen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "core/runtime/files.h"
#include "tests/alerts/alert_rules.h"
#include "tests/alerts/command.h"
#include "tests/dashboards/panels.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"

namespace gpuward::dashboards {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::vector<Dashboard>& all_dashboards() {
  static const std::vector<Dashboard> kAll = load_dashboards();
  return kAll;
}

// A file that was changed by hand would lose the change with the next run.
TEST(Dashboards, AreWhatTheScriptWrites) {
  GPUWARD_REQUIRE(support::why_no_program("python3"));
  const support::TempDir made;
  const alerts::Said said = alerts::run({"python3", folder() / "make.py", made.path()});
  ASSERT_EQ(said.exit_code, 0) << said.text;
  EXPECT_GE(all_dashboards().size(), 5U);
  for (const Dashboard& one : all_dashboards()) {
    EXPECT_TRUE(*read_file(made / one.file) == *read_file(folder() / one.file))
        << one.file << ": run dashboards/make.py";
  }
}

TEST(Dashboards, CanBeImportedAndNotBeChangedInPlace) {
  std::set<std::string> uids;
  for (const Dashboard& one : all_dashboards()) {
    EXPECT_EQ(one.file, one.uid + ".json");
    EXPECT_TRUE(uids.insert(one.uid).second) << one.uid;
    EXPECT_TRUE(one.json.at("id").is_null()) << one.file;
    EXPECT_FALSE(one.json.at("editable").get<bool>()) << one.file;
    EXPECT_GE(one.json.at("schemaVersion").get<int>(), 39) << one.file;
    EXPECT_THAT(one.json.at("links").dump(), HasSubstr("${runbooks}")) << one.file;
  }
}

TEST(Dashboards, AskForTheirDatasourceTheirJobsAndTheirNodes) {
  for (const Dashboard& one : all_dashboards()) {
    std::map<std::string, Json> variables;
    for (const Json& variable : one.json.at("templating").at("list")) {
      variables[variable.at("name")] = variable;
    }
    ASSERT_TRUE(variables.contains("datasource") && variables.contains("job")) << one.file;
    EXPECT_EQ(variables["datasource"].at("query"), "prometheus");
    const bool asks_for_nodes = one.json.at("panels").dump().contains("$node");
    EXPECT_EQ(variables.contains("node"), asks_for_nodes) << one.file;
    EXPECT_EQ(variables.at("runbooks").at("type"), "textbox") << "where the remediator's are";
    variables.erase("datasource");
    variables.erase("runbooks");
    for (const auto& [name, variable] : variables) {
      EXPECT_EQ(variable.at("refresh"), 2) << name << " is not asked again with the time";
      EXPECT_EQ(variable.at("allValue"), ".+") << name;
      EXPECT_TRUE(std::regex_match(variable.at("query").get<std::string>(),
                                   std::regex("label_values\\(.+, " + name + "\\)")))
          << name;
    }
  }
}

TEST(Dashboards, SayOfEachPanelWhatItShowsInWhichUnit) {
  for (const Dashboard& one : all_dashboards()) {
    std::set<int> ids;
    for (const Json& panel : one.json.at("panels")) {
      const std::string title = one.uid + ": " + panel.at("title").get<std::string>();
      EXPECT_NE(panel.at("description"), "") << title;
      EXPECT_NE(panel.at("fieldConfig").at("defaults").at("unit"), "") << title;
      EXPECT_EQ(panel.at("datasource").at("uid"), "${datasource}") << title;
      EXPECT_THAT(panel.at("targets"), Not(IsEmpty())) << title;
      EXPECT_TRUE(ids.insert(panel.at("id").get<int>()).second) << title;
      EXPECT_LE(panel.at("gridPos").at("x").get<int>() + panel.at("gridPos").at("w").get<int>(), 24)
          << title;
    }
  }
}

TEST(Dashboards, AskForTheChosenJobsInEverySelector) {
  static const std::regex kSelector(R"([a-z_:A-Z]+\{([^}]*)\})");
  for (const Dashboard& one : all_dashboards()) {
    for (const Query& query : queries_of(one)) {
      std::size_t selectors = 0;
      for (std::sregex_iterator at(query.expr.begin(), query.expr.end(), kSelector), end; at != end;
           ++at, ++selectors) {
        EXPECT_TRUE((*at)[1].str().starts_with("job=~\"$job\"")) << query.panel;
      }
      EXPECT_GT(selectors, 0U) << query.panel << " asks for " << query.expr;
    }
  }
}

// A bare counter shows the time since its process started, and a fixed window misses samples when
// one looks at a month.
TEST(Dashboards, ShowCountersByTheirGrowthOverTheWindowThatIsShown) {
  static const std::regex kCounter(
      R"((\w+\()?(\w+_(?:total|bucket|sum|count))\{[^}]*\}(\[[^\]]*\])?)");
  for (const Dashboard& one : all_dashboards()) {
    for (const Query& query : queries_of(one)) {
      for (std::sregex_iterator at(query.expr.begin(), query.expr.end(), kCounter), end; at != end;
           ++at) {
        EXPECT_THAT((*at)[1].str(), ::testing::AnyOf("rate(", "increase(")) << query.panel;
        EXPECT_THAT((*at)[3].str(), ::testing::AnyOf("[$__rate_interval]", "[$__range]"))
            << query.panel;
      }
    }
  }
}

TEST(Dashboards, AreWhereTheAlertsPointTo) {
  std::set<std::string> uids;
  for (const Dashboard& one : all_dashboards()) uids.insert(one.uid);
  static const std::regex kPath(R"(/d/([a-z-]+)(\?var-node=\{\{ \$labels\.node \}\})?)");
  for (const alerts::AlertRule& rule : alerts::load_alert_rules()) {
    std::smatch parts;
    const std::string url = rule.annotations.at("dashboard_url");
    ASSERT_TRUE(std::regex_match(url, parts, kPath)) << rule.name << ": " << url;
    EXPECT_TRUE(uids.contains(parts[1])) << rule.name << ": " << url;
  }
}

}  // namespace
}  // namespace gpuward::dashboards
