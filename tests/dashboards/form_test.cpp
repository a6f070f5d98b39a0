// The files of dashboards/: the script beside them writes them, Grafana can import them, and the
// alerts point to them. lint_test.cpp and queries_test.cpp check their content.
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

const std::vector<Dashboard>& all_dashboards() {
  static const std::vector<Dashboard> kAll = load_dashboards();
  return kAll;
}

// The next run of the script would lose a change that was made by hand.
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

TEST(Dashboards, CanBeImported) {
  std::set<std::string> uids;
  for (const Dashboard& one : all_dashboards()) {
    EXPECT_EQ(one.file, one.uid + ".json");
    EXPECT_TRUE(uids.insert(one.uid).second) << one.uid;
    EXPECT_TRUE(one.json.at("id").is_null()) << one.file;
    EXPECT_GE(one.json.at("schemaVersion").get<int>(), 39) << one.file;
  }
}

// The page has the description, the title and the picture of each dashboard, and the name of each
// variable.
TEST(Dashboards, AreOnTheirPage) {
  const auto docs = folder().parent_path() / "docs";
  const std::string page = *read_file(docs / "dashboards.md");
  for (const Dashboard& one : load_dashboards()) {
    const std::string picture = "images/dashboard-" + one.uid.substr(8) + ".png";
    EXPECT_TRUE(page.contains("| " + string_at(one.json, "description") + " |\n")) << one.uid;
    EXPECT_TRUE(page.contains("\n### " + string_at(one.json, "title") + "\n")) << one.uid;
    EXPECT_TRUE(page.contains("](" + picture + ")\n") && std::filesystem::exists(docs / picture));
    for (const Json& variable : one.json.at("templating").at("list")) {
      EXPECT_TRUE(page.contains("`" + string_at(variable, "name") + "`")) << variable;
    }
  }
}

TEST(Dashboards, AreWhereTheAlertsPointTo) {
  std::set<std::string> uids;
  for (const Dashboard& one : all_dashboards()) uids.insert(one.uid);
  static const std::regex kPath(
      R"(/d/([a-z-]+)(\?var-node=\{\{ \$labels\.node \}\})?)"
      R"(\{\{ with \$labels\.cluster \}\}[?&]var-cluster=\{\{ \. \}\}\{\{ end \}\})");
  for (const alerts::AlertRule& rule : alerts::load_alert_rules()) {
    std::smatch parts;
    const std::string url = rule.annotations.at("dashboard_url");
    ASSERT_TRUE(std::regex_match(url, parts, kPath)) << rule.name << ": " << url;
    EXPECT_TRUE(uids.contains(parts[1])) << rule.name << ": " << url;
    EXPECT_TRUE(url.contains(parts[2].matched ? "&var-cluster=" : "?var-cluster=")) << rule.name;
  }
}

}  // namespace
}  // namespace gpuward::dashboards
