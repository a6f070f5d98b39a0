// Every phase is documented: a table of docs/remediator.md has the meaning of each, and one of
// docs/notifications.md has the receivers and times of notifications for each open one. The rules
// of alerts/ agree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "remediator/model/remediation.h"
#include "tests/alerts/alert_rules.h"
#include "tests/reference/page.h"

namespace gpuward::reference {
namespace {

using remediator::Phase;

constexpr int kPhases = static_cast<int>(Phase::kCancelled) + 1;

std::set<std::string> phases_that(bool (*are)(Phase)) {
  std::set<std::string> phases;
  for (int i = 0; i < kPhases; ++i) {
    const auto phase = static_cast<Phase>(i);
    if (are(phase)) phases.insert(std::string(to_string(phase)));
  }
  return phases;
}

std::vector<Cells> table() {
  return rows_below("docs/notifications.md", "When an alert notifies you");
}

// A cell that is all code has lost its backticks.
std::set<std::string> words_of(const std::string& cell) {
  const std::regex word("[A-Za-z]+");
  return {std::sregex_token_iterator(cell.begin(), cell.end(), word), {}};
}

TEST(PhaseTable, HasEachPhase) {
  std::set<std::string> said;
  for (const Cells& row : rows_below("docs/remediator.md", "Phases")) {
    ASSERT_EQ(row.size(), 3U);
    for (const std::string& word : words_of(row[0])) said.insert(word);
  }
  EXPECT_THAT(said, testing::ContainerEq(phases_that([](Phase) { return true; })));
}

TEST(NotificationTable, HasEachOpenPhase) {
  std::set<std::string> said;
  for (const Cells& row : table()) {
    ASSERT_EQ(row.size(), 4U);
    for (const std::string& word : words_of(row[0])) said.insert(word);
    EXPECT_TRUE(std::regex_search(row[2], std::regex("at once|[0-9]+ (min|h|d)"))) << row[2];
  }
  said.erase("any");
  EXPECT_THAT(said, testing::ContainerEq(phases_that(remediator::is_open)));
}

TEST(NotificationTable, NamesAlertsThatAskForThosePhases) {
  std::map<std::string, std::string> expressions;
  for (const auto& rule : alerts::load_alert_rules()) expressions[rule.name] = rule.expr;
  for (const Cells& row : table()) {
    for (const std::string& word : words_of(row[3])) {
      if (!word.starts_with("Gpu")) continue;
      ASSERT_TRUE(expressions.contains(word)) << word;
      if (word != "GpuRemediationStuck") continue;
      for (const std::string& phase : words_of(row[0]))
        EXPECT_THAT(expressions[word], testing::HasSubstr(phase)) << row[1];
    }
  }
}

}  // namespace
}  // namespace gpuward::reference
