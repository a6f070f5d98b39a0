// An operator who gets a page finds a runbook: one for each alert, with the promised sections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <vector>

#include "core/runtime/files.h"
#include "tests/alerts/alert_rules.h"
#include "tests/alerts/command.h"
#include "tests/support/temp_dir.h"

namespace gpuward::alerts {
namespace {

TEST(Runbooks, AreOneForEachAlertAndNoneIsLeftOver) {
  std::set<std::string> alerts, pages;
  for (const AlertRule& rule : load_alert_rules()) alerts.insert(rule.name);
  for (const auto& page : std::filesystem::directory_iterator(alerts_folder() / "runbooks")) {
    EXPECT_EQ(page.path().extension(), ".md");
    pages.insert(page.path().stem());
  }
  EXPECT_EQ(pages, alerts);
}

// No URL works on every installation, so alerts have no link. If the remediator may be gone, its
// pod prints nothing.
TEST(Runbooks, AlertsHaveTheCommandThatPrintsThem) {
  for (const AlertRule& rule : load_alert_rules()) {
    const bool may_be_gone = rule.name == "GpuRemediatorAbsent" || rule.name == "GpuRemediatorDown";
    const std::string in_pod = "kubectl -n gpuward exec deploy/gpuward-remediator -- ";
    EXPECT_EQ(rule.annotations.at("runbook"),
              (may_be_gone ? "" : in_pod) + "gpuwardctl runbook " + rule.name);
  }
}

TEST(Runbooks, AreLinksIfSomebodySaysWhereTheyAre) {
  const support::TempDir folder;
  const Said said = run({"sh", "-c",
                         "RUNBOOK_URL=https://gpuward.example/runbooks/ "
                         "GRAFANA_URL=https://grafana.example \"$0/links.sh\" "
                         "< \"$0/gpuward.rules.yaml\" > \"$1\"",
                         alerts_folder().string(), folder / "rules.yaml"});
  ASSERT_EQ(said.exit_code, 0) << said.text;

  for (const AlertRule& rule : load_alert_rules(folder / "rules.yaml")) {
    EXPECT_FALSE(rule.annotations.contains("runbook")) << rule.name;
    EXPECT_EQ(rule.annotations.at("runbook_url"), "https://gpuward.example/runbooks/" + rule.name);
    EXPECT_TRUE(rule.annotations.at("dashboard_url").starts_with("https://grafana.example/d/"))
        << rule.name;
  }
}

TEST(Runbooks, StayCommandsIfNobodySaysAnything) {
  const Said said =
      run({"sh", "-c", "\"$0/links.sh\" < \"$0/gpuward.rules.yaml\"", alerts_folder().string()});
  EXPECT_EQ(said.text, *read_file(alerts_folder() / "gpuward.rules.yaml"));
}

// Each runbook has the same sections in the same order, so that a reader at night finds them.
TEST(Runbooks, SayWhatItMeansWhatGpuwardDoesAndHowToStopIt) {
  const std::vector<std::string> sections = {"Meaning",
                                             "Impact",
                                             "Automatic actions",
                                             "Diagnosis",
                                             "How to stop it",
                                             "How to bring the node back",
                                             "When to call the vendor"};
  for (const AlertRule& rule : load_alert_rules()) {
    const auto page = read_file(alerts_folder() / "runbooks" / (rule.name + ".md"));
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_TRUE(page->starts_with("# " + rule.name + "\n")) << rule.name;
    std::vector<std::string> found;
    std::istringstream lines(*page);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("## ")) found.push_back(line.substr(3));
    EXPECT_EQ(found, sections) << rule.name;
    for (const std::string& section : sections)
      EXPECT_THAT(*page, ::testing::Not(::testing::HasSubstr("## " + section + "\n\n")))
          << rule.name;
    EXPECT_THAT(*page, ::testing::HasSubstr("`severity: " + rule.label("severity") + "`"))
        << rule.name;
  }
}

}  // namespace
}  // namespace gpuward::alerts
