#include "core/runtime/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <thread>
#include <vector>

#include "core/runtime/json.h"

namespace gpuward {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Log, WritesToStderrAtAndAboveItsLevel) {
  ::testing::internal::CaptureStderr();
  const std::string written = [] {
    Log log(LogLevel::kWarn, LogFormat::kLogfmt);
    log.info("quiet");
    log.warn("shown", {{"node", "a"}});
    log.set_level(LogLevel::kDebug);
    log.debug("now shown");
    return ::testing::internal::GetCapturedStderr();  // the log still exists: it flushes each line
  }();
  const auto lines = lines_of(written);
  ASSERT_EQ(lines.size(), 2U) << written;
  EXPECT_THAT(lines[0], HasSubstr("level=warn msg=shown node=a"));
  EXPECT_THAT(lines[1], HasSubstr("msg=\"now shown\""));
}

TEST(Log, DoesNotTakeWhatIsLoggedForAFormat) {
  ::testing::internal::CaptureStderr();
  Log(LogLevel::kInfo, LogFormat::kJson).info("{} %s {0", {{"v", "{:99999999}"}});
  const auto parsed = parse_json(::testing::internal::GetCapturedStderr());
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(string_at(*parsed, "msg"), "{} %s {0");
  EXPECT_EQ(string_at(*parsed, "v"), "{:99999999}");
}

TEST(Log, KeepsLinesOfDifferentThreadsApart) {
  ::testing::internal::CaptureStderr();
  {
    Log log(LogLevel::kInfo, LogFormat::kJson);
    std::vector<std::jthread> writers;
    for (int i = 0; i < 4; ++i) {
      writers.emplace_back([&log] {
        for (int round = 0; round < 200; ++round) log.info("event", {{"v", std::string(200, 'x')}});
      });
    }
  }
  const auto lines = lines_of(::testing::internal::GetCapturedStderr());
  EXPECT_EQ(lines.size(), 800U);
  EXPECT_TRUE(
      std::ranges::all_of(lines, [](const auto& line) { return parse_json(line).has_value(); }));
}

TEST(Log, NamesTheLevelsAndFormatsItKnows) {
  EXPECT_EQ(parse_log_level("debug"), LogLevel::kDebug);
  EXPECT_EQ(parse_log_level("error"), LogLevel::kError);
  EXPECT_EQ(parse_log_format("json"), LogFormat::kJson);
  EXPECT_EQ(parse_log_format("logfmt"), LogFormat::kLogfmt);
  EXPECT_THAT(parse_log_level("verbose").error().message, HasSubstr("debug, info, warn or error"));
  EXPECT_THAT(parse_log_format("JSON").error().message, HasSubstr("logfmt or json"));
}

}  // namespace
}  // namespace gpuward
