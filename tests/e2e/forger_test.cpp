// Targets that claim to speak for another node: a real Prometheus with the shipped configuration
// and rules must blame only the node of the exporter's target. Otherwise one compromised node or
// pod could have any node cordoned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>

#include "core/http/server/server.h"
#include "core/runtime/json.h"
#include "tests/e2e/part_config.h"
#include "tests/support/http_get.h"
#include "tests/support/neighbours.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::e2e {
namespace {

using support::wait_until;

// The page of a forger about gpu-victim.
constexpr const char* kForgedPage =
    "gpuward_node_severity{node=\"gpu-victim\"} 4\n"
    "gpuward_finding{node=\"gpu-victim\",check=\"xid\",code=\"79\",pci_bus_id=\"0000:4e:00\","
    "gpu=\"3\",severity=\"isolate\",evidence=\"kernel\",cleared_by=\"operator\"} 1\n";

std::string local_address(int port) { return "127.0.0.1:" + std::to_string(port); }

// A target that serves nothing until it begins to forge.
class Forger {
 public:
  Forger() {
    http::ServerOptions options;
    options.listen_addresses = {"127.0.0.1:0"};
    const http::Handler page = [this](const http::Request&) {
      return http::Response::text(200, forges_ ? kForgedPage : "");
    };
    auto server = http::Server::start(
        options, {{"/metrics", {"GET"}, page, http::Access::kOpen, http::Match::kExact}});
    if (server) {
      server_ = *std::move(server);
    } else {
      ADD_FAILURE() << server.error().message;
    }
  }
  void begin() { forges_ = true; }
  [[nodiscard]] std::string address() const { return local_address(server_->ports().front()); }

 private:
  std::atomic<bool> forges_ = false;
  std::unique_ptr<http::Server> server_;  // declared after the members that its handler reads
};

// One forger is the exporter of gpu-attacker, and one is a target of another job.
class PrometheusAmongForgers {
 public:
  explicit PrometheusAmongForgers(const std::string& program) : port_(support::free_port()) {
    const auto config = prometheus_config({.exporters = {{"gpu-attacker", exporter.address()}},
                                           .remediator = bystander.address(),
                                           .alertmanagers = {}});
    if (!config) {
      ADD_FAILURE() << config.error().message;
      return;
    }
    auto process = support::Process::spawn(
        {.argv = {program, "--config.file=" + folder_.write("prometheus.yaml", *config).string(),
                  "--storage.tsdb.path=" + (folder_ / "data").string(),
                  "--web.listen-address=" + local_address(port_)}});
    if (process) prometheus_ = *std::move(process);
  }

  Forger exporter, bystander;

  [[nodiscard]] bool has_series(const std::string& job) const {
    const Json answer =
        ask("/api/v1/series?match[]=gpuward_node_severity%7Bjob=%22" + job + "%22%7D");
    return !member_at(answer, "data").empty();
  }
  // The values of `label` among the alerts that ask for a remediation.
  [[nodiscard]] std::set<std::string> of_orders(const char* label) const {
    const Json answer = ask("/api/v1/alerts");
    std::set<std::string> out;
    for (const Json& alert : member_at(member_at(answer, "data"), "alerts")) {
      const Json& labels = member_at(alert, "labels");
      if (!string_at(labels, "remediation").empty()) out.insert(string_at(labels, label));
    }
    return out;
  }
  [[nodiscard]] std::string log() const { return prometheus_ ? prometheus_->error_output() : ""; }

 private:
  [[nodiscard]] Json ask(const std::string& target) const {
    const auto answer = support::http_get("http://" + local_address(port_) + target);
    return parse_json(answer.body).value_or(Json());
  }
  support::TempDir folder_;
  int port_;
  std::unique_ptr<support::Process> prometheus_;
};

class ForgedPages : public ::testing::TestWithParam<const char*> {};
GPUWARD_ON_DEBIANS_AND_NEWER(ForgedPages);

TEST_P(ForgedPages, CanAccuseNoNodeButThatOfItsOwnTarget) {
  GPUWARD_REQUIRE_IN(support::tier_of(GetParam()),
                     support::why_no_program_of(GetParam(), "prometheus"));
  PrometheusAmongForgers prometheus(support::program_of(GetParam(), "prometheus"));
  prometheus.bystander.begin();
  ASSERT_TRUE(wait_until([&] { return prometheus.has_series("gpuward-remediator"); },
                         "the page of the bystander is in Prometheus"))
      << prometheus.log();
  // The test judges the exporter's output later, together with the bystander's.
  prometheus.exporter.begin();
  ASSERT_TRUE(
      wait_until([&] { return prometheus.of_orders("node").contains("gpu-attacker"); }, "an alert"))
      << prometheus.log();
  EXPECT_THAT(prometheus.of_orders("node"), ::testing::ElementsAre("gpu-attacker"));
}

}  // namespace
}  // namespace gpuward::e2e
