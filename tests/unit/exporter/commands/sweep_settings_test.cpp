#include "exporter/commands/sweep_settings.h"

#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <sstream>

#include "exporter/commands/quarantine_checks.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

SeedLookup keys(std::map<std::string, std::string> values) {
  return [values = std::move(values)](std::string_view key) -> Result<std::optional<std::string>> {
    const auto found = values.find(std::string(key));
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

// CONTRACTS A: MAX_NODES_PER_SWEEP 10, JOB_TIMEOUT 900.
TEST(SweepSettings, HaveTheDefaultsOfTheReplacedSweeper) {
  const auto options = read_sweep_options(keys({}), {});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->max_nodes, 10U);
  EXPECT_EQ(options->job.timeout, std::chrono::seconds(900));
  EXPECT_EQ(options->job.ns, "gpu-healthcheck");
  EXPECT_EQ(options->selector, "nvidia.com/gpu.present=true");
}

TEST(SweepSettings, AreReadUnderTheOldNames) {
  const auto options = read_sweep_options(keys({{"SWEEP_IMAGE", "registry.example/g:1"},
                                                {"SWEEP_NAMESPACE", "gpus"},
                                                {"MAX_NODES_PER_SWEEP", "3"},
                                                {"JOB_TIMEOUT", "1200\n"},
                                                {"ENABLE_LABEL", "0"},
                                                {"ENABLE_TAINT", "false"}}),
                                          {});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->job.image, "registry.example/g:1");
  EXPECT_EQ(options->job.ns, "gpus");
  EXPECT_EQ(options->max_nodes, 3U);
  EXPECT_EQ(options->job.timeout, std::chrono::seconds(1200));
  EXPECT_FALSE(options->writes_labels);
  EXPECT_FALSE(options->writes_taint);
}

TEST(SweepSettings, TakeARuntimeClassAConfigMapAndAListOfPullSecrets) {
  const auto options = read_sweep_options(keys({{"SWEEP_RUNTIME_CLASS", "nvidia"},
                                                {"SWEEP_CONFIG_MAP", "gpu-healthcheck-config"},
                                                {"SWEEP_PULL_SECRETS", "registry mirror"}}),
                                          {});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->job.config_map, "gpu-healthcheck-config");
  EXPECT_EQ(options->job.runtime_class, "nvidia");
  EXPECT_EQ(options->job.pull_secrets, (std::vector<std::string>{"registry", "mirror"}));
}

TEST(SweepSettings, ThatAreEmptyAreNotSet) {
  SweepOptions flags;
  flags.job.image = "registry/image:1";
  std::map<std::string, std::string> empty;
  for (const char* key : {"SWEEP_IMAGE", "SWEEP_NAMESPACE", "MAX_NODES_PER_SWEEP", "JOB_TIMEOUT",
                          "ENABLE_TAINT", "ENABLE_LABEL"}) {
    empty.emplace(key, "\n");
  }
  const auto options = read_sweep_options(keys(empty), flags);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->job.image, "registry/image:1");
  EXPECT_EQ(options->job.ns, SweepOptions().job.ns);
  EXPECT_EQ(options->max_nodes, 10U);
  EXPECT_TRUE(options->writes_taint);
}

TEST(SweepSettings, NameTheKeyThatIsWrong) {
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"MAX_NODES_PER_SWEEP", "0"}, {"JOB_TIMEOUT", "15m"}, {"ENABLE_TAINT", "yes"}}) {
    const auto options = read_sweep_options(keys({{key, value}}), {});
    ASSERT_FALSE(options) << key;
    EXPECT_EQ(options.error().kind, ErrorKind::kInvalid);
    EXPECT_THAT(options.error().message, StartsWith(key));
  }
}

TEST(QuarantineChecks, AreReadBackFromWhatTheCheckCommandPrints) {
  std::ostringstream out;
  const RunCheck run = run_by_command(
      [](int, const std::stop_token&, std::ostream& json) {
        json << "{\"check\":\"4-dcgm-diag-l4\",\"status\":\"FAIL\",\"severity\":\"ISOLATE\","
                "\"details\":\"memory\"}\n";
        return 1;
      },
      out);
  const auto result = run(4, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->check, "4-dcgm-diag-l4");
  EXPECT_EQ(result->status, CheckStatus::kFail);
  EXPECT_EQ(result->severity, Severity::kIsolate);
  EXPECT_EQ(result->details, "memory");
  EXPECT_THAT(out.str(), HasSubstr("ISOLATE"));
}

TEST(QuarantineChecks, AreStoppedWithinSecondsOnceALabelAsksForTheGpus) {
  fakes::FakeClock clock;
  std::atomic<int> asked = 0;
  const RunCheck run = until_asked_for_gpus(
      [&](int, const std::stop_token& stop) -> Result<CheckResult> {
        for (int question = 1; question <= 2; ++question) {
          EXPECT_FALSE(stop.stop_requested());
          EXPECT_TRUE(support::wait_until([&] { return clock.sleepers() == 1; }, "a pause"));
          clock.advance(std::chrono::seconds(10));
          EXPECT_TRUE(support::wait_until([&] { return asked == question; }, "a question"));
        }
        EXPECT_TRUE(support::wait_until([&] { return stop.stop_requested(); }, "the stop"));
        return fail(ErrorKind::kInternal, "the check has ended without a result");
      },
      [&]() -> std::optional<std::string> {
        return ++asked == 2 ? std::optional<std::string>("key=value") : std::nullopt;
      },
      clock);
  const auto result = run(4, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kBlocked);
  EXPECT_THAT(result.error().message, HasSubstr("key=value"));
}

TEST(QuarantineChecks, EndWithTheirResultAndWithAStopIfNoLabelAsks) {
  fakes::FakeClock clock;
  const auto no_label = [] { return std::optional<std::string>(); };
  std::stop_source stop;
  stop.request_stop();
  const RunCheck run = until_asked_for_gpus(
      [](int, const std::stop_token& token) -> Result<CheckResult> {
        if (token.stop_requested()) return fail(ErrorKind::kCancelled, "stopped");
        return CheckResult();
      },
      no_label, clock);
  EXPECT_TRUE(run(4, {}));
  EXPECT_EQ(run(4, stop.get_token()).error().kind, ErrorKind::kCancelled);
}

TEST(QuarantineChecks, ACommandThatPrintsNoResultCouldNotTell) {
  std::ostringstream out;
  const RunCheck run = run_by_command(
      [](int, const std::stop_token&, std::ostream& json) {
        json << "Killed\n{}\n{\"check\":\"4\",\"status\":\"GOOD\"}\n";
        return 137;
      },
      out);
  const auto result = run(4, {});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("137"));
}

}  // namespace
}  // namespace gpuward::exporter
