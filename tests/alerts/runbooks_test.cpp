// Whoever is woken finds a page: one for each alert, with the sections that it promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/runtime/files.h"
#include "tests/alerts/alert_rules.h"

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

TEST(Runbooks, AreWhereTheAlertPointsTo) {
  for (const AlertRule& rule : load_alert_rules()) {
    EXPECT_EQ(rule.annotations.at("runbook_url"),
              "https://github.com/gpuward/gpuward/blob/main/alerts/runbooks/" + rule.name + ".md");
  }
}

TEST(Runbooks, SayWhatItMeansWhatGpuwardDoesAndHowToStopIt) {
  for (const AlertRule& rule : load_alert_rules()) {
    const auto page = read_file(alerts_folder() / "runbooks" / (rule.name + ".md"));
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_TRUE(page->starts_with("# " + rule.name + "\n")) << rule.name;
    for (const char* section : {"Meaning", "Impact", "Diagnosis", "What gpuward does by itself",
                                "How to stop it", "How to bring the node back"}) {
      EXPECT_THAT(*page, ::testing::HasSubstr("\n## " + std::string(section) + "\n")) << rule.name;
    }
    EXPECT_THAT(*page, ::testing::HasSubstr("`severity: " + rule.label("severity") + "`"))
        << rule.name;
  }
}

}  // namespace
}  // namespace gpuward::alerts
