// The environment variables of the replaced systems, as the program reads them.
#include "remediator/config/flags.h"

#include <gmock/gmock.h>

#include <utility>

#include "tests/support/environment.h"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;

Flags flags_without_words() {
  const char* const argv[] = {"gpuward-remediator", "--web.insecure"};
  const auto parsed = parse_flags(std::size(argv), argv);
  EXPECT_TRUE(std::holds_alternative<Flags>(parsed));
  return std::holds_alternative<Flags>(parsed) ? std::get<Flags>(parsed) : Flags();
}

TEST(FlagsOfTheEnvironment, HaveTheVariablesOfTheReplacedSystems) {
  const support::Environment variables[] = {
      {"MONITOR_INTERVAL", "300"},
      {"WEBHOOK_URL", "http://hook"},
      {"LAMBDA_FUNCTION", "gpus"},
      {"SNS_TOPIC_ARN", "arn:aws:sns:eu-west-1:123456789012:gpu-alerts"},
      {"LOG_ENDPOINT", "http://loki:3100"},
      {"WATCHED_NAMESPACES", "train,serve"}};

  const Flags flags = flags_without_words();

  EXPECT_EQ(flags.monitor_interval, std::chrono::seconds(300));
  EXPECT_EQ(flags.told.webhook_url, "http://hook");
  EXPECT_EQ(flags.told.lambda_function, "gpus");
  EXPECT_EQ(flags.told.sns_topic_arn, "arn:aws:sns:eu-west-1:123456789012:gpu-alerts");
  EXPECT_EQ(flags.loki_url, "http://loki:3100");
  EXPECT_THAT(flags.loki_namespaces, ElementsAre("train", "serve"));
}

// A variable left in the environment must not end the program, with or without --prometheus.alerts.
TEST(FlagsOfTheEnvironment, TakeAMonitorIntervalOfUpToADay) {
  for (const int seconds : {1, 900, 3600, 86400}) {
    const support::Environment variable("MONITOR_INTERVAL", std::to_string(seconds));
    EXPECT_EQ(flags_without_words().monitor_interval, std::chrono::seconds(seconds));
  }
}

TEST(FlagsOfTheEnvironment, HaveTheLogLevelInTheWordsOfPython) {
  const std::pair<const char*, LogLevel> words[] = {{"DEBUG", LogLevel::kDebug},
                                                    {"INFO", LogLevel::kInfo},
                                                    {"WARNING", LogLevel::kWarn},
                                                    {"ERROR", LogLevel::kError},
                                                    {"CRITICAL", LogLevel::kError}};
  for (const auto& [word, level] : words) {
    const support::Environment variable("LOG_LEVEL", word);
    EXPECT_EQ(flags_without_words().log_level, level) << word;
  }
}

}  // namespace
}  // namespace gpuward::remediator
