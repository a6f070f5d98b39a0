#include "exporter/kernel_log/line_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/cpu_time.h"

namespace gpuward::exporter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LineRule rule(std::string code, std::string pattern) {
  return {.code = std::move(code), .pattern = std::move(pattern)};
}

std::vector<std::string> codes_of(const LineRules& rules, std::string_view message) {
  std::vector<std::string> codes;
  for (const LineRule& matching : rules.match(message)) codes.push_back(matching.code);
  return codes;
}

TEST(LineRules, MatchAnywhereInALine) {
  const auto rules = LineRules::compile({rule("Oops", "divide error: \\d+"), rule("Io", "^I/O")});
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  EXPECT_THAT(codes_of(*rules, "[12.3] divide error: 0000 [#1] SMP"), ElementsAre("Oops"));
  EXPECT_THAT(codes_of(*rules, "I/O error"), ElementsAre("Io"));
  EXPECT_THAT(codes_of(*rules, "an I/O error"), IsEmpty());
}

TEST(LineRules, AllMatchInTheirOrderAndACodeOnce) {
  const auto rules = LineRules::compile(
      {rule("Docker", "docker"), rule("Hung", "blocked"), rule("Docker", "task docker")});
  EXPECT_THAT(codes_of(*rules, "task docker:7 blocked"), ElementsAre("Docker", "Hung"));
}

TEST(LineRules, AreNoneUntilTheyAreConfigured) {
  EXPECT_THAT(LineRules().all(), IsEmpty());
  EXPECT_THAT(LineRules().match("any line"), IsEmpty());
  EXPECT_THAT(LineRules::compile({})->match("any line"), IsEmpty());
}

TEST(LineRules, TakeAnyBytes) {
  const auto rules = LineRules::compile({rule("Any", "name .+ end")});
  EXPECT_THAT(codes_of(*rules, "name \xff\xfe\x80 end"), ElementsAre("Any"));
  EXPECT_THAT(codes_of(*rules, std::string_view("name \0 end", 10)), ElementsAre("Any"));
}

// std::regex takes longer than the age of the universe for this one.
TEST(LineRules, TakeTimeThatIsLinearInTheLine) {
  const auto rules = LineRules::compile({rule("Evil", "(a+)+b"), rule("Worse", "(.*)*x$")});
  const auto used = support::cpu_time_of(
      [&] { EXPECT_THAT(codes_of(*rules, std::string(64U << 10U, 'a')), IsEmpty()); });
  EXPECT_LT(used, std::chrono::seconds(10));
}

TEST(LineRules, RefuseWhatIsNoPattern) {
  for (const char* pattern : {"(a", "a(?=b)", "(a)\\1", "a{1001}", "["}) {
    const auto rules = LineRules::compile({rule("Bad", pattern)});
    ASSERT_FALSE(rules.has_value()) << pattern;
    EXPECT_EQ(rules.error().kind, ErrorKind::kInvalid);
    EXPECT_THAT(rules.error().message,
                HasSubstr("the pattern of Bad is not a valid RE2 regular expression"));
  }
}

TEST(LineRules, RefuseAPatternThatEachLineMatches) {
  EXPECT_THAT(*fault_of_pattern(".*"), HasSubstr("matches an empty line"));
  EXPECT_FALSE(fault_of_pattern("a.*").has_value());
}

TEST(LineRules, RefuseAPatternThatIsTooLong) {
  EXPECT_FALSE(fault_of_pattern(std::string(1024, 'a')).has_value());
  EXPECT_THAT(*fault_of_pattern(std::string(1025, 'a')), HasSubstr("longer than 1024 bytes"));
}

TEST(LineRules, RefuseMoreRulesOrMoreMemoryThanTheyMayTake) {
  EXPECT_TRUE(LineRules::compile({128, rule("Many", "a")}).has_value());
  EXPECT_THAT(LineRules::compile({129, rule("Many", "a")}).error().message,
              HasSubstr("more than 128 rules"));
  std::vector<LineRule> large;
  for (int i = 0; i < 128; ++i) large.push_back(rule("Large", std::to_string(i) + "a[^b]{900}c"));
  const auto compiled = LineRules::compile(std::move(large));
  ASSERT_FALSE(compiled.has_value());
  EXPECT_THAT(compiled.error().message, HasSubstr("more than 8 MiB"));
}

}  // namespace
}  // namespace gpuward::exporter
