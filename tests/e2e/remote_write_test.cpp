// The shipped rules and the remediator's reports on a central Prometheus that scrapes nothing: the
// Prometheus beside the nodes sends to it by remote write. Late samples are not lost, and missing
// samples do not count as health.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <functional>
#include <memory>

#include "core/http/client/client.h"
#include "core/http/server/server.h"
#include "core/runtime/json.h"
#include "remediator/inbox/sources/prometheus_reports.h"
#include "tests/e2e/part_config.h"
#include "tests/support/http_get.h"
#include "tests/support/neighbours.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::e2e {
namespace {

using remediator::HealthReport;
using std::chrono::seconds;
using support::wait_until;

// A node whose Xid counter rises with each scrape.
class SickNode {
 public:
  SickNode() {
    http::ServerOptions options;
    options.listen_addresses = {"127.0.0.1:0"};
    auto server = http::Server::start(
        options, {{.path = "/metrics", .methods = {"GET"}, .handler = [this](const auto&) {
                     return http::Response::text(200, page(++scrapes_));
                   }}});
    if (!server) throw std::runtime_error(server.error().message);
    server_ = *std::move(server);
  }
  [[nodiscard]] std::string address() const {
    return "127.0.0.1:" + std::to_string(server_->ports().front());
  }
  [[nodiscard]] int scrapes() const { return scrapes_; }

 private:
  static std::string page(int xids) {
    return "gpuward_node_severity 3\ngpuward_node_confirmed_severity 3\ngpuward_kernel_log_up 1\n"
           "gpuward_boot_info{boot_id=\"5f0c\"} 1\n"
           "# TYPE gpuward_xid_errors_total counter\ngpuward_xid_errors_total{xid=\"79\"} " +
           std::to_string(xids) + "\n";
  }
  std::atomic<int> scrapes_{0};
  std::unique_ptr<http::Server> server_;  // the last member: it ends first
};

class Prometheus {
 public:
  Prometheus(std::string program, const std::string& config, std::vector<std::string> flags)
      : port_(support::free_port()), argv_(std::move(flags)) {
    argv_.insert(
        argv_.begin(),
        {std::move(program), "--config.file=" + folder_.write("prometheus.yaml", config).string(),
         "--storage.tsdb.path=" + (folder_ / "data").string(),
         "--web.listen-address=127.0.0.1:" + std::to_string(port_)});
    start();
  }
  void start() {
    auto process = support::Process::spawn({.argv = argv_});
    ASSERT_TRUE(process) << process.error().message;
    process_ = *std::move(process);
  }
  // Ends it as for a restart.
  void stop() {
    EXPECT_EQ(process_->stop(), 0);
    process_.reset();
  }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] Json data(const std::string& what) const {
    const auto answer = support::http_get(url() + "/api/v1/" + what);
    return member_at(parse_json(answer.body).value_or(Json()), "data");
  }
  // All samples of the Xid counter that arrived until then.
  [[nodiscard]] Json samples_until(const std::string& time) const {
    const Json result =
        member_at(data("query?query=gpuward_xid_errors_total[10m]&time=" + time), "result");
    return result.empty() ? Json() : result[0]["values"];
  }
  // The nodes whose alerts request a restart.
  [[nodiscard]] std::string nodes_to_restart() const {
    const Json answer = data("alerts");
    std::string nodes;
    for (const Json& alert : member_at(answer, "alerts")) {
      const Json& labels = member_at(alert, "labels");
      if (string_at(labels, "alertname") == "GpuNodeNeedsReboot" &&
          string_at(alert, "state") == "firing")
        nodes += string_at(labels, "node");
    }
    return nodes;
  }
  [[nodiscard]] std::string log() const { return process_ ? process_->error_output() : ""; }

 private:
  support::TempDir folder_;
  int port_;
  std::vector<std::string> argv_;
  std::unique_ptr<support::Process> process_;
};

std::string now_as_text() { return std::to_string(std::time(nullptr)); }

// By the version of the sender; the receiver has the other version.
class RemoteWrite : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const bool is_newer = std::string_view(GetParam()) == support::kNewer;
    const std::string receiver = is_newer ? support::kDebians : support::kNewer;
    GPUWARD_REQUIRE_IN(support::tier_of(GetParam()),
                       support::why_no_program_of(GetParam(), "prometheus"));
    GPUWARD_REQUIRE_IN(support::tier_of(receiver),
                       support::why_no_program_of(receiver, "prometheus"));
    central_ = std::make_unique<Prometheus>(
        support::program_of(receiver, "prometheus"),
        "global: {evaluation_interval: 1s}\nrule_files: ['" +
            (alerts_folder() / "gpuward.rules.yaml").string() + "']\n",
        std::vector<std::string>{"--web.enable-remote-write-receiver"});
    edge_ = std::make_unique<Prometheus>(
        support::program_of(GetParam(), "prometheus"),
        "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
        "scrape_configs: [{job_name: gpuward-exporter, static_configs: [{targets: ['" +
            node_.address() + "'], labels: {node: gpu-01}}]}]\nremote_write: [{url: '" +
            central_->url() + "/api/v1/write'}]\n",
        std::vector<std::string>{});
    expect("the alert at the centre", [&] { return central_->nodes_to_restart() == "gpu-01"; });
  }
  void expect(const std::string& what, const std::function<bool()>& is_so) {
    ASSERT_TRUE(wait_until(is_so, what)) << edge_->log() << central_->log();
  }
  void pass_scrapes(int count) {
    const int end = node_.scrapes() + count;
    expect("scrapes", [&] { return node_.scrapes() >= end; });
  }
  Result<HealthReport> report() {
    return remediator::PrometheusReports(central_->url(), client_, policy_, clock_)
        .latest("gpu-01");
  }

  SickNode node_;
  std::unique_ptr<Prometheus> central_, edge_;
  http::CurlClient client_;
  remediator::CurrentPolicy policy_{remediator::Policy{}};
  SystemClock clock_;
};
GPUWARD_ON_DEBIANS_AND_NEWER(RemoteWrite);

TEST_P(RemoteWrite, FillsGapsAfterAnOutageAndIsNotTakenForHealthOnceItEnds) {
  // There is no report after a scrape that took longer than a second.
  auto before = report();
  expect("a report", [&] { return (before = report()).has_value(); });
  EXPECT_EQ(before->severity, Severity::kReboot);
  EXPECT_EQ(before->boot_id, "5f0c");

  central_->stop();
  pass_scrapes(5);
  const std::string back = now_as_text();
  central_->start();

  expect("what was scraped meanwhile", [&] {
    const Json sent = edge_->samples_until(back);
    return !sent.empty() && sent == central_->samples_until(back);
  });
  expect("a newer report", [&] {
    const auto now = report();
    return now && now->measured_at > before->measured_at + seconds(5);
  });
  expect("the alert", [&] { return central_->nodes_to_restart() == "gpu-01"; });

  edge_->stop();
  const int last = node_.scrapes();
  auto old = report();

  expect("its age", [&] {
    old = report();
    return old && clock_.wall() - old->measured_at > seconds(8);
  });

  EXPECT_EQ(node_.scrapes(), last);
  EXPECT_EQ(old->severity, Severity::kReboot);
  EXPECT_EQ(central_->nodes_to_restart(), "gpu-01") << "nobody says that it is healthy";
}

}  // namespace
}  // namespace gpuward::e2e
