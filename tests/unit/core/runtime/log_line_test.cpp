#include "core/runtime/log_line.h"

#include <gtest/gtest.h>

#include <random>

#include "core/runtime/json.h"

namespace gpuward {
namespace {

using namespace std::chrono_literals;

constexpr Clock::Wall kWritten = std::chrono::sys_days(2026y / 11 / 21) + 8h + 4min + 56s + 7ms;

std::string json_line(std::string_view message, Log::Fields fields = {}) {
  return render_log_line(LogFormat::kJson, kWritten, LogLevel::kWarn, message, fields);
}
std::string logfmt_line(std::string_view message, Log::Fields fields = {}) {
  return render_log_line(LogFormat::kLogfmt, kWritten, LogLevel::kInfo, message, fields);
}

TEST(LogLine, IsOneFlatJsonObject) {
  EXPECT_EQ(
      json_line("config refused", {{"file", "/etc/a.yaml"}, {"line", "3"}}),
      R"({"ts":"2026-11-21T08:04:56.007Z","level":"warn","msg":"config refused","file":"/etc/a.yaml","line":"3"})");
}

TEST(LogLine, IsLogfmtWithQuotesOnlyIfNeeded) {
  EXPECT_EQ(
      logfmt_line("listening", {{"address", "[::]:10980"}, {"note", "two words"}, {"empty", ""}}),
      R"(ts=2026-11-21T08:04:56.007Z level=info msg=listening address="[::]:10980" note="two words" empty="")");
}

TEST(LogLine, CannotBeForgedByWhatIsLogged) {
  const std::string forged = "x\nts=2026 level=error msg=\"forged\"\r\x1b[2J\u0085";
  EXPECT_EQ(logfmt_line("got", {{"line", forged}}),
            "ts=2026-11-21T08:04:56.007Z level=info msg=got "
            R"(line="x\nts=2026 level=error msg=\"forged\"\r\u001b[2J\u0085")");
}

TEST(LogLine, ShowsWhatReordersOrHidesText) {
  EXPECT_TRUE(json_line("x", {{"line", "a\u202eb"}}).ends_with(R"(,"line":"a\u202eb"})"));
  EXPECT_TRUE(
      logfmt_line("x", {{"line", "a\u2028b\u2069"}}).ends_with(R"( line="a\u2028b\u2069")"));
}

TEST(LogLine, QuotesAValueThatLooksLikeAFieldOfItsOwn) {
  EXPECT_TRUE(logfmt_line("got", {{"a", "b=c"}}).ends_with(R"(a="b=c")"));
}

TEST(LogLine, KeepsItsOwnNamesToItself) {
  const auto parsed =
      parse_json(json_line("m", {{"msg", "x"}, {"level", "y"}, {"ts", "z"}, {"", "e"}}));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(string_at(*parsed, "msg"), "m");
  EXPECT_EQ(string_at(*parsed, "msg_"), "x");
  EXPECT_EQ(string_at(*parsed, "_"), "e");
}

TEST(LogLine, CutsAValueThatIsVeryLong) {
  const std::string line = json_line("m", {{"v", std::string(1'000'000, 'x')}});
  EXPECT_LT(line.size(), 10'000U);
  EXPECT_TRUE(parse_json(line));
}

TEST(LogLine, IsOneValidJsonObjectWhateverBytesAreLogged) {
  std::mt19937 random(20261121);
  for (int round = 0; round < 3000; ++round) {
    std::string name;
    std::string value;
    for (std::size_t i = random() % 12; i > 0; --i) name += static_cast<char>(random());
    for (std::size_t i = random() % 60; i > 0; --i) value += static_cast<char>(random());
    const std::string line = json_line(value, {{name, value}});
    const auto parsed = parse_json(line);
    ASSERT_TRUE(parsed) << parsed.error().message << " in " << line;
    ASSERT_TRUE(parsed->is_object());
    ASSERT_EQ(line.find_first_of("\n\r"), std::string::npos);
    ASSERT_EQ(logfmt_line(value, {{name, value}}).find_first_of("\n\r"), std::string::npos);
  }
}

TEST(LogLine, GivesBackWhatWasLoggedWhenItIsText) {
  const std::string text = "a\"b\\c\nd\te \u00e9 \u20ac \U0001F525";
  EXPECT_EQ(string_at(*parse_json(json_line("m", {{"v", text}})), "v"), text);
}

}  // namespace
}  // namespace gpuward
