// The simulated month's model of Prometheus' `for` and `keep_firing_for`: it gives the same results
// as promtool.
#include "tests/alerts/month/rule_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string_view>

#include "tests/alerts/command.h"
#include "tests/support/http_get.h"
#include "tests/support/neighbours.h"
#include "tests/support/ports.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::alerts {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr minutes kStep{1};
constexpr int kSteps = 90;

// Runs of ones and zeros, some of them short.
std::vector<bool> pattern(unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<bool> out;
  for (bool is_active = false; out.size() < kSteps; is_active = !is_active) {
    out.insert(out.end(), 1 + engine() % 14, is_active);
  }
  out.resize(kSteps);
  return out;
}

std::string minutes_text(seconds time) { return std::to_string(time / minutes(1)) + "m"; }

// A test for promtool that expects the result of firing_spans().
std::string expectations(const std::vector<bool>& values, const RuleTimes& times) {
  std::string text, samples;
  std::vector<seconds> active;
  for (std::size_t i = 0; i < values.size(); ++i) {
    samples += values[i] ? " 1" : " 0";
    if (values[i]) active.push_back(kStep * i);
  }
  const auto spans = firing_spans(active, times, {.step = kStep, .end = kStep * kSteps});
  text = "  - interval: 1m\n    input_series: [{series: x, values: '" + samples.substr(1) +
         "'}]\n    alert_rule_test:\n";
  for (seconds at{}; at < kStep * kSteps; at += kStep) {
    const bool fires = AlertHistory{.labels = {}, .firing = spans}.fires(at);
    text += "      - {alertname: GpuX, eval_time: " + minutes_text(at) +
            (fires ? ", exp_alerts: [{exp_labels: {}}]}\n" : ", exp_alerts: []}\n");
  }
  return text;
}

class RuleStateInPrometheus : public ::testing::TestWithParam<const char*> {};
GPUWARD_ON_DEBIANS_AND_NEWER(RuleStateInPrometheus);

TEST_P(RuleStateInPrometheus, FiresAndEndsAsPromtoolSays) {
  GPUWARD_REQUIRE_IN(support::tier_of(GetParam()),
                     support::why_no_program_of(GetParam(), "promtool"));
  for (const RuleTimes& times :
       {RuleTimes{}, RuleTimes{.keep = minutes(10)}, RuleTimes{.hold = minutes(3)},
        RuleTimes{.hold = minutes(10), .keep = minutes(9)}, RuleTimes{minutes(1), minutes(3)}}) {
    const support::TempDir folder;
    folder.write("rules.yaml", "groups: [{name: x, rules: [{alert: GpuX, expr: x == 1, for: " +
                                   minutes_text(times.hold) +
                                   ", keep_firing_for: " + minutes_text(times.keep) + "}]}]\n");
    std::string tests = "rule_files: [rules.yaml]\nevaluation_interval: 1m\ntests:\n";
    for (unsigned seed = 0; seed < 5; ++seed) tests += expectations(pattern(seed), times);
    const Said said = run({support::program_of(GetParam(), "promtool"), "test", "rules",
                           folder.write("tests.yaml", tests)});
    EXPECT_EQ(said.exit_code, 0) << minutes_text(times.hold) << ": " << said.text.substr(0, 2000);
  }
}

// One hour of an alert that is active all the time, while Prometheus is down after half of it.
std::vector<Span> over_a_restart(const RuleTimes& times, seconds outage) {
  std::vector<seconds> active;
  for (seconds at{}; at < hours(1); at += seconds(5)) active.push_back(at);
  return firing_spans(
      active, times,
      {.step = seconds(5), .end = hours(1), .outages = {{minutes(30), minutes(30) + outage}}});
}

TEST(RuleState, GoesOnOverAShortRestartIfNothingIsWaitedFor) {
  EXPECT_THAT(over_a_restart({}, minutes(2)), ElementsAre(Span{seconds(0), hours(1)}));
}

TEST(RuleState, EndsAndBeginsAgainIfARestartForgetsTheWait) {
  // Last sent 20 s before, valid for four minutes at Alertmanager, and pending for five after the
  // three of the restart.
  EXPECT_THAT(
      over_a_restart({.hold = minutes(5)}, minutes(3)),
      ElementsAre(Span{minutes(5), minutes(33) + seconds(55)}, Span{minutes(38), hours(1)}));
}

TEST(RuleState, RemembersAWaitOfTenMinutesOverARestart) {
  EXPECT_THAT(over_a_restart({.hold = minutes(10)}, minutes(2)),
              ElementsAre(Span{minutes(10), hours(1)}));
}

// A real Prometheus; its grace period and the waits of its two rules are shortened.
class RestartedPrometheus {
 public:
  explicit RestartedPrometheus(std::string program)
      : address_("127.0.0.1:" + std::to_string(support::free_port())),
        program_(std::move(program)) {
    folder_.write("rules.yaml",
                  "groups: [{name: x, interval: 1s, rules: ["
                  "{alert: GpuLong, expr: vector(1), for: 10s}, "
                  "{alert: GpuShort, expr: vector(1), for: 9s}]}]\n");
    folder_.write("prometheus.yaml", "rule_files: [rules.yaml]\n");
    start();
  }
  void restart() {
    EXPECT_EQ(process_->stop(), 0);
    start();
  }
  // "firing", "pending" or nothing, now.
  [[nodiscard]] std::map<std::string, std::string> states() const {
    const auto answer = nlohmann::json::parse(
        support::http_get("http://" + address_ + "/api/v1/alerts").body, nullptr, false);
    std::map<std::string, std::string> out;
    if (!answer.is_object()) return out;
    for (const auto& alert : answer["data"]["alerts"]) {
      out[alert["labels"]["alertname"]] = alert["state"];
    }
    return out;
  }

 private:
  void start() {
    auto process = support::Process::spawn(
        {.argv = {program_, "--config.file=" + (folder_ / "prometheus.yaml").string(),
                  "--storage.tsdb.path=" + (folder_ / "data").string(),
                  "--web.listen-address=" + address_, "--rules.alert.for-grace-period=10s"}});
    ASSERT_TRUE(process) << process.error().message;
    process_ = *std::move(process);
  }
  support::TempDir folder_;
  std::string address_, program_;
  std::unique_ptr<support::Process> process_;
};

TEST_P(RuleStateInPrometheus, IsRememberedFromTheGracePeriodOn) {
  GPUWARD_REQUIRE_IN(support::tier_of(GetParam()),
                     support::why_no_program_of(GetParam(), "prometheus"));
  RestartedPrometheus prometheus(support::program_of(GetParam(), "prometheus"));
  const auto long_one_fires = [&] { return prometheus.states()["GpuLong"] == "firing"; };
  ASSERT_TRUE(support::wait_until(long_one_fires, "GpuLong fires"));

  prometheus.restart();

  std::map<std::string, std::string> states;
  ASSERT_TRUE(support::wait_until(
      [&] {
        states = prometheus.states();
        return states["GpuLong"] == "firing";
      },
      "GpuLong fires again"));
  // Since 3.16 Prometheus also restores a firing alert with a shorter wait.
  const bool forgets = GetParam() == std::string_view(support::kDebians);
  EXPECT_EQ(states["GpuShort"], forgets ? "pending" : "firing");
}

TEST(RuleState, FiresNeverIfNothingIsActive) {
  EXPECT_THAT(firing_spans({}, {}, {.step = kStep, .end = hours(1)}), IsEmpty());
}

}  // namespace
}  // namespace gpuward::alerts
