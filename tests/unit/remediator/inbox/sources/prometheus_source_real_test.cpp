// The alerts of a real Prometheus that evaluates rules, as the series ALERTS has them.
#include <gmock/gmock.h>

#include <memory>

#include "remediator/inbox/sources/prometheus_source.h"
#include "tests/support/http_get.h"
#include "tests/support/ports.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/inbox/sources/real_prometheus.h"
#include "tests/unit/remediator/inbox/sources/source_fakes.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kRules =
    "groups:\n"
    "  - name: any\n"
    "    rules:\n"
    "      - {alert: Bad, expr: vector(1), for: 0s,"
    " labels: {node: gpu-01, remediation: reboot}}\n"
    "      - {alert: NotYet, expr: vector(1), for: 1h,"
    " labels: {node: gpu-02, remediation: reboot}}\n"
    "      - {alert: Foreign, expr: vector(1), labels: {node: gpu-03}}\n";

class AlertsOfARealPrometheus : public ::testing::TestWithParam<const char*> {
 protected:
  AlertsOfARealPrometheus() : policy_(Policy{}) {}
  void SetUp() override {
    GPUWARD_REQUIRE_IN(support::tier_of(GetParam()),
                       support::why_no_program_of(GetParam(), "prometheus"));
    const int port = support::free_port();
    url_ = "http://127.0.0.1:" + std::to_string(port);
    const auto rules = folder_.write("rules.yaml", kRules);
    const auto config =
        folder_.write("prometheus.yaml",
                      "global: {evaluation_interval: 1s}\nrule_files: [" + rules.string() + "]\n");
    before_rules_ = clock_.wall();
    auto process = spawn_prometheus(GetParam(), folder_, config, port);
    ASSERT_TRUE(process.has_value()) << process.error().message;
    prometheus_ = *std::move(process);
    source_ = std::make_unique<PrometheusSource>(PrometheusSourceOptions{.url = url_}, client_,
                                                 policy_, known_, clock_);
  }
  std::vector<AlertSignal> signals_of(std::size_t number) {
    std::vector<AlertSignal> signals;
    (void)support::poll_until([&] {
      const auto found = source_->look();
      if (found) signals = found->signals;
      return signals.size() == number;
    });
    return signals;
  }

  support::TempDir folder_;
  std::string url_;
  std::unique_ptr<support::Process> prometheus_;
  http::CurlClient client_;
  CurrentPolicy policy_;
  ListedEvidence known_;
  SystemClock clock_;
  Clock::Wall before_rules_;
  std::unique_ptr<PrometheusSource> source_;
};

TEST_P(AlertsOfARealPrometheus, AreThoseThatFireWithTheTimeSinceWhen) {
  const auto signals = signals_of(1);

  ASSERT_THAT(signals, SizeIs(1));
  EXPECT_EQ(signals[0].alertname, "Bad");
  EXPECT_EQ(signals[0].node, "gpu-01");
  // Prometheus evaluates as of a time that is up to an interval off: a second here.
  EXPECT_GE(signals[0].starts_at, before_rules_ - seconds(2));
  EXPECT_LE(signals[0].starts_at, clock_.wall() + seconds(2));
  const auto found = source_->look();
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->complaint.has_value());
}

TEST_P(AlertsOfARealPrometheus, IncludeThoseOfOthersThatThePolicyKnows) {
  Policy policy;
  policy.foreign_alerts = {{.match = {{"alertname", "Foreign"}}, .severity = Severity::kReset}};
  policy_.set(policy);

  const auto signals = signals_of(2);

  ASSERT_THAT(signals, SizeIs(2));
  EXPECT_NE(signals[0].foreign, signals[1].foreign);
}

GPUWARD_ON_DEBIANS_AND_NEWER(AlertsOfARealPrometheus);

}  // namespace
}  // namespace gpuward::remediator
