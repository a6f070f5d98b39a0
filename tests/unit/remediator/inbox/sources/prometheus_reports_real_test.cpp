// The query of the health report, run by a real Prometheus that scrapes a page of the test.
#include <gmock/gmock.h>

#include <atomic>
#include <memory>

#include "core/http/server/server.h"
#include "remediator/inbox/sources/prometheus_reports.h"
#include "tests/support/http_get.h"
#include "tests/support/ports.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/inbox/sources/real_prometheus.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// The page of an exporter with all that the report needs. It also claims to be another node.
std::string page_of(int severity, int confirmed_severity) {
  return "gpuward_node_severity{node=\"gpu-liar\"} " + std::to_string(severity) +
         "\ngpuward_node_confirmed_severity{node=\"gpu-liar\"} " +
         std::to_string(confirmed_severity) +
         "\ngpuward_kernel_log_up{node=\"gpu-liar\"} "
         "1\ngpuward_finding{check=\"xid\",code=\"79\",severity=\"reboot\",gpu=\"0\",pci_bus_id="
         "\"0000:01:00\"} "
         "1\ngpuward_finding{check=\"xid\",code=\"79\",severity=\"reboot\",gpu=\"1\",pci_bus_id="
         "\"0000:02:00\"} "
         "1\ngpuward_finding{check=\"xid\",code=\"31\",severity=\"monitor\",gpu=\"2\",pci_bus_id="
         "\"0000:03:00\"} "
         "1\ngpuward_gpu_info{pci_bus_id=\"0000:01:00\",serial=\"1650\",uuid=\"GPU-a\"} "
         "1\ngpuward_gpu_info{pci_bus_id=\"0000:02:00\",serial=\"\",uuid=\"GPU-b\"} "
         "1\ngpuward_gpu_info{pci_bus_id=\"0000:03:00\",serial=\"1652\",uuid=\"GPU-c\"} "
         "1\ngpuward_boot_info{boot_id=\"5f0c\",node=\"gpu-liar\"} 1\n";
}

class PrometheusReportsOfARealServer : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(support::tier_of(GetParam()),
                       support::why_no_program_of(GetParam(), "prometheus"));
    start_exporter();
    start_prometheus();
  }

  void start_exporter() {
    http::ServerOptions options;
    options.listen_addresses = {"127.0.0.1:0"};
    auto server = http::Server::start(
        options, {{.path = "/metrics", .methods = {"GET"}, .handler = [this](const http::Request&) {
                     return http::Response::text(200, page_of(severity_, confirmed_severity_),
                                                 "text/plain; version=0.0.4");
                   }}});
    ASSERT_TRUE(server.has_value()) << server.error().message;
    exporter_ = *std::move(server);
  }

  void start_prometheus() {
    const int port = support::free_port();
    url_ = "http://127.0.0.1:" + std::to_string(port);
    const std::string target = "127.0.0.1:" + std::to_string(exporter_->ports().front());
    const auto config = folder_.write("prometheus.yaml",
                                      "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
                                      "scrape_configs:\n"
                                      "  - job_name: gpuward-exporter\n"
                                      "    static_configs:\n"
                                      "      - {targets: [\"" +
                                          target + "\"], labels: {node: gpu-01}}\n" + twin(target) +
                                          "  - job_name: any-other\n"
                                          "    static_configs:\n"
                                          "      - {targets: [\"" +
                                          target + "\"]}\n");
    before_scrapes_ = clock_.wall();
    auto process = spawn_prometheus(GetParam(), folder_, config, port);
    ASSERT_TRUE(process.has_value()) << process.error().message;
    prometheus_ = *std::move(process);
    ASSERT_TRUE(
        support::wait_until([this] { return support::http_get(url_ + "/-/ready").status == 200; },
                            "Prometheus is ready"))
        << prometheus_->error_output();
  }

  // Another node, whose exporter gives the same answers.
  [[nodiscard]] std::string twin(const std::string& target) const {
    if (twin_.empty()) return "";
    return "      - {targets: [\"localhost" + target.substr(target.find(':')) + "\"], labels: {" +
           twin_ + "}}\n";
  }

  Result<HealthReport> latest(std::string_view node) {
    return PrometheusReports(url_, client_, policy_, clock_).latest(node);
  }
  Result<HealthReport> first_report() {
    auto report = latest("gpu-01");
    (void)support::poll_until([&] { return (report = latest("gpu-01")).has_value(); });
    return report;
  }

  support::TempDir folder_;
  std::string twin_;  // its labels; empty: there is none
  std::atomic<int> severity_{1}, confirmed_severity_{0};
  std::unique_ptr<http::Server> exporter_;
  std::unique_ptr<support::Process> prometheus_;
  http::CurlClient client_;
  CurrentPolicy policy_{Policy{}};
  SystemClock clock_;
  Clock::Wall before_scrapes_;
  std::string url_;
};

TEST_P(PrometheusReportsOfARealServer, CarrySeverityBootAndTimeOfTheLastScrape) {
  const auto report = first_report();

  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->severity, Severity::kMonitor);
  EXPECT_EQ(report->confirmed_severity, Severity::kNone);
  EXPECT_EQ(report->boot_id, "5f0c");
  EXPECT_EQ(report->error_class, "XID_CRITICAL_79");
  EXPECT_THAT(report->gpus, ::testing::ElementsAre("1650", "GPU-b"));
  EXPECT_TRUE(report->sees_kernel_log);
  EXPECT_GE(report->measured_at, before_scrapes_);
  EXPECT_LE(report->measured_at, clock_.wall() + milliseconds(100));
  EXPECT_TRUE(support::wait_until(
      [&] {
        const auto later = latest("gpu-01");
        return later && later->measured_at > report->measured_at;
      },
      "a report of a later scrape"));
}

class PrometheusReportsOfTwins : public PrometheusReportsOfARealServer {
 protected:
  PrometheusReportsOfTwins() { twin_ = "node: gpu-02"; }
};

TEST_P(PrometheusReportsOfTwins, NameTheirGpusAsContested) {
  Result<HealthReport> report = first_report();
  ASSERT_TRUE(support::wait_until(
      [&] { return (report = latest("gpu-01")) && report->contested_gpus.size() == 2; },
      "both have reported"));

  EXPECT_THAT(report->contested_gpus, ::testing::ElementsAre("1650", "GPU-b"));
  EXPECT_THAT(report->gpus, ::testing::ElementsAre());
}

// A node of the same name in another cluster. The same Prometheus scrapes the machines of both.
class PrometheusReportsOfNamesakes : public PrometheusReportsOfARealServer {
 protected:
  PrometheusReportsOfNamesakes() { twin_ = "node: gpu-01, cluster: west"; }
  Result<HealthReport> latest_in(const std::string& cluster) {
    Policy policy;
    policy.cluster = cluster;
    policy_.set(policy);
    return latest("gpu-01");
  }
};

TEST_P(PrometheusReportsOfNamesakes, KeepTheirGpusApart) {
  Result<HealthReport> report = latest_in("west");
  ASSERT_TRUE(support::wait_until(
      [&] { return (report = latest_in("west")) && report->contested_gpus.empty(); },
      "the report of west"));
  // Series without the label count for each cluster, those of the other cluster never do.
  ASSERT_TRUE(support::wait_until(
      [&] { return (report = latest_in("east")) && report->contested_gpus.size() == 2; },
      "the GPUs of east, that west has reported too"));
  EXPECT_THAT(report->gpus, ::testing::ElementsAre());
}

TEST_P(PrometheusReportsOfARealServer, BecomeNewerAndFollowTheSeverity) {
  const auto before = first_report();
  ASSERT_TRUE(before.has_value()) << before.error().message;

  severity_ = 4;
  confirmed_severity_ = 3;

  ASSERT_TRUE(support::wait_until(
      [&] {
        const auto now = latest("gpu-01");
        return now && now->severity == Severity::kIsolate &&
               now->confirmed_severity == Severity::kReboot &&
               now->measured_at > before->measured_at;
      },
      "the report says isolate"));
}

TEST_P(PrometheusReportsOfARealServer, VanishWithTheExporter) {
  ASSERT_TRUE(first_report().has_value());

  exporter_.reset();

  ASSERT_TRUE(support::wait_until(
      [this] {
        const auto report = latest("gpu-01");
        return !report && report.error().kind == ErrorKind::kNotFound;
      },
      "a dead exporter has no report"));
}

TEST_P(PrometheusReportsOfARealServer, BelongToTheExportersTargetWhateverNodeAnyPageNames) {
  ASSERT_TRUE(first_report().has_value());
  ASSERT_TRUE(support::wait_until(
      [this] {
        const std::string query =
            "/api/v1/query?query=gpuward_boot_info%7Bnode%3D%22gpu-liar%22%7D";
        return support::http_get(url_ + query).body.find("any-other") != std::string::npos;
      },
      "Prometheus has the liar's series"));

  const auto liar = latest("gpu-liar");

  ASSERT_FALSE(liar.has_value());
  EXPECT_EQ(liar.error().kind, ErrorKind::kNotFound);
}

GPUWARD_ON_DEBIANS_AND_NEWER(PrometheusReportsOfARealServer);
GPUWARD_ON_DEBIANS_AND_NEWER(PrometheusReportsOfTwins);
GPUWARD_ON_DEBIANS_AND_NEWER(PrometheusReportsOfNamesakes);

}  // namespace
}  // namespace gpuward::remediator
