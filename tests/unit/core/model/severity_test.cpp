#include "core/model/severity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace gpuward {
namespace {

constexpr std::array kAll{Severity::kNone, Severity::kMonitor, Severity::kReset, Severity::kReboot,
                          Severity::kIsolate};

TEST(Severity, IsOrderedFromNoneToIsolate) {
  EXPECT_TRUE(std::ranges::is_sorted(kAll));
  EXPECT_EQ(std::max(Severity::kReset, Severity::kIsolate), Severity::kIsolate);
}

TEST(Severity, HasTheNumbersThatMetricsAndAlertRulesCompareWith) {
  for (std::size_t i = 0; i < kAll.size(); ++i) EXPECT_EQ(static_cast<std::size_t>(kAll[i]), i);
}

TEST(Severity, IsWrittenAsItsLowerCaseNameAndReadBack) {
  constexpr std::array<std::string_view, 5> kNames{"none", "monitor", "reset", "reboot", "isolate"};
  for (std::size_t i = 0; i < kAll.size(); ++i) {
    EXPECT_EQ(to_string(kAll[i]), kNames[i]);
    EXPECT_EQ(parse_severity(kNames[i]), kAll[i]);
  }
}

TEST(Severity, IsReadInTheUpperCaseOfTheReplacedSuiteIfPassMeansNone) {
  EXPECT_EQ(parse_severity("ISOLATE"), Severity::kIsolate);
  EXPECT_EQ(parse_severity("REBOOT"), Severity::kReboot);
  EXPECT_EQ(parse_severity("PASS"), Severity::kNone);
}

TEST(Severity, IsNotGuessedFromAnythingElse) {
  for (const std::string_view text : {"", "isolat", "isolate ", "4", "critical", "warn", "fail"}) {
    EXPECT_EQ(parse_severity(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace gpuward
