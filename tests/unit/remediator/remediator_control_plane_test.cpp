// The real binary against a real kube-apiserver, under the shipped RBAC and with the shipped CRD:
// tests of facts that the fake cannot prove.
#include <gmock/gmock.h>

#include <regex>
#include <stdexcept>

#include "core/http/server/server.h"
#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "tests/fakes/kube_objects.h"
#include "tests/places.inc"
#include "tests/support/control_plane.h"
#include "tests/support/http_get.h"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"

namespace gpuward::remediator {
namespace {

using support::wait_until;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kToken = "remediator-token-0123456789";

class RemediatorOnControlPlane : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
    support::ControlPlaneOptions options;
    options.users.push_back({kToken,
                             "system:serviceaccount:gpuward:gpuward-remediator",
                             {"system:serviceaccounts", "system:serviceaccounts:gpuward"}});
    auto plane = support::ControlPlane::start(std::move(options));
    ASSERT_TRUE(plane) << plane.error().message;
    plane_ = std::move(*plane);
    for (const char* file :
         {"crd.yaml", "remediator-rbac.yaml", "remediator-switch.yaml", "remediator.yaml"}) {
      const auto applied = plane_->apply(std::string(GPUWARD_SOURCE_DIR "/manifests/") + file);
      ASSERT_TRUE(applied) << applied.error().message;
    }
    const auto node = plane_->apply_text(dump_json(fakes::ready_node("gpu-01")));
    ASSERT_TRUE(node) << node.error().message;
    ASSERT_THAT(kubectl({"wait", "--for=condition=Established", "--timeout=30s",
                         "crd/remediations.gpuward.dev"}),
                HasSubstr("condition met"));
  }

  std::string kubectl(std::vector<std::string> arguments) {
    const auto outcome = plane_->kubectl(std::move(arguments));
    return outcome ? outcome->output + outcome->error_output : outcome.error().message;
  }

  // Starts a Prometheus with the exporter's report for the node's boot, including the kernel's own
  // severity.
  void start_prometheus() {
    const auto sample = [](const char* what, const char* value) {
      return Json{{"metric", {{"what", what}, {"boot_id", "boot-gpu-01"}}},
                  {"value", Json::array({0, value})}};
    };
    const std::string answer = dump_json(
        {{"status", "success"},
         {"data",
          {{"result", Json::array({sample("measured_at", "1"), sample("severity", "4"),
                                   sample("confirmed_severity", "3"), sample("boot", "1")})}}}});
    http::ServerOptions options;
    options.listen_addresses = {"127.0.0.1:0"};
    auto server = http::Server::start(
        options, {{.path = "/api/v1/query", .methods = {"GET"}, .handler = [answer](const auto&) {
                     return http::Response::json(200, answer);
                   }}});
    ASSERT_TRUE(server) << server.error().message;
    prometheus_ = std::move(*server);
  }

  void start() {
    ASSERT_NO_FATAL_FAILURE(start_prometheus());
    auto process = support::Process::spawn(
        {.argv = {
             GPUWARD_BIN_DIR "/gpuward-remediator", "--web.listen-address=127.0.0.1:0",
             "--web.telemetry-address=127.0.0.1:0", "--web.insecure", "--mode=cordon",
             "--prometheus.url=http://127.0.0.1:" + std::to_string(prometheus_->ports().front()),
             "--kubeconfig=" + plane_->kubeconfig_for(kToken).string(), "--log.format=json"}});
    ASSERT_TRUE(process);
    process_ = std::move(*process);
  }
  int port() {
    const std::string log = process_->error_output();
    std::smatch match;
    const std::regex line("Webhook is served[^\n]*\"port\":\"?([0-9]+)");
    return std::regex_search(log, match, line) ? std::stoi(match[1].str()) : 0;
  }
  int post(bool firing) {
    SystemClock clock;
    const std::string now = to_rfc3339_ms(clock.wall());
    const Json one = {
        {"status", firing ? "firing" : "resolved"},
        {"labels", {{"alertname", "Bad"}, {"node", "gpu-01"}, {"remediation", "reboot"}}},
        {"startsAt", now},
        {"endsAt", now},
        {"fingerprint", "ab12"}};
    return support::http_post("http://127.0.0.1:" + std::to_string(port()) + "/api/v1/alerts",
                              dump_json({{"version", "4"}, {"alerts", Json::array({one})}}))
        .status;
  }

  std::unique_ptr<support::ControlPlane> plane_;
  std::unique_ptr<http::Server> prometheus_;
  std::unique_ptr<support::Process> process_;
};

TEST_F(RemediatorOnControlPlane, QuarantinesANodeUnderItsOwnRbacAndKubectlShowsIt) {
  start();
  ASSERT_TRUE(wait_until([&] { return port() != 0 && post(true) == 200; }, "a 200"));

  ASSERT_TRUE(wait_until(
      [&] {
        return kubectl({"get", "node", "gpu-01"}).find("SchedulingDisabled") != std::string::npos;
      },
      "cordon"))
      << process_->error_output();
  ASSERT_TRUE(wait_until(
      [&] { return kubectl({"get", "rem"}).find("Quarantined") != std::string::npos; }, "phase"))
      << process_->error_output();
  const std::string table = kubectl({"get", "rem"});
  for (const char* column : {"NODE", "SEVERITY", "PHASE", "MODE", "AGE", "REASON"}) {
    EXPECT_THAT(table, HasSubstr(column));
  }
  EXPECT_THAT(table, HasSubstr("gpu-01"));
  EXPECT_THAT(table, HasSubstr("severity reboot: taint, cordon"));
  EXPECT_THAT(kubectl({"get", "node", "gpu-01", "-o", "jsonpath={.spec.taints}"}),
              HasSubstr("\"gpuward.dev/remediation\""));
  EXPECT_TRUE(wait_until(
      [&] {
        return kubectl({"describe", "node", "gpu-01"}).find("GpuwardQuarantined") !=
               std::string::npos;
      },
      "event"));
  EXPECT_TRUE(wait_until(
      [&] {
        return kubectl({"get", "rem", "-o", "jsonpath={.items[*].status.kernelSeverity}"}) ==
               "reboot";
      },
      "what the kernel says, through the schema"))
      << process_->error_output();
  // A storm must not pay for a record of the owner of each field of a status.
  EXPECT_THAT(kubectl({"get", "rem", "--show-managed-fields", "-o", "json"}),
              AllOf(HasSubstr("\"f:status\": {}"), HasSubstr("\"f:spec\": {}")));
  EXPECT_TRUE(wait_until([&] { return post(false) == 200; }, "a 200"));
  EXPECT_TRUE(wait_until(
      [&] { return kubectl({"get", "rem"}).find("does not return nodes") != std::string::npos; },
      "the alert's end"));
  EXPECT_THAT(kubectl({"get", "node", "gpu-01"}), HasSubstr("SchedulingDisabled"));
  EXPECT_THAT(process_->error_output(), ::testing::Not(HasSubstr("forbidden")));
}

// Found by reading the code: versions went back, the watches reported nothing, and the spent budget
// was forgotten.
TEST_F(RemediatorOnControlPlane, BeginsAnewWithTheBreakerOpenIfEtcdIsRestoredFromABackup) {
  start();
  const auto ledger = [&] {
    return kubectl(
        {"-n", "gpuward", "get", "configmap", "gpuward-ledger", "-o", "jsonpath={.data.ledger}"});
  };
  const auto is_cordoned = [&] {
    return kubectl({"get", "node", "gpu-01"}).find("SchedulingDisabled") != std::string::npos;
  };
  ASSERT_TRUE(wait_until([&] { return ledger().starts_with("gpuward-ledger"); }, "the ledger"));
  const auto taken = plane_->take_backup();
  ASSERT_TRUE(taken) << taken.error().message;
  ASSERT_TRUE(wait_until([&] { return post(true) == 200; }, "a 200"));
  ASSERT_TRUE(wait_until(is_cordoned, "cordon")) << process_->error_output();

  const auto restored = plane_->restore_backup();

  ASSERT_TRUE(restored) << restored.error().message;
  ASSERT_FALSE(is_cordoned());
  EXPECT_EQ(process_->wait_exit(), 3) << process_->error_output();
  EXPECT_THAT(process_->error_output(),
              HasSubstr("etcd was restored from a backup: this replica restarts"));
  EXPECT_THAT(ledger(), HasSubstr("breaker open"));
}

TEST_F(RemediatorOnControlPlane, RefusesRemediationsThatTheSchemaDoesNotKnow) {
  const auto apply = [&](const std::string& spec) {
    return plane_
        ->apply_text(
            "apiVersion: gpuward.dev/v1alpha1\nkind: Remediation\n"
            "metadata: {name: by-hand}\nspec: " +
            spec + "\n")
        .has_value();
  };
  EXPECT_FALSE(apply("{nodeName: gpu-01, nodeUID: u}"));
  EXPECT_FALSE(apply("{nodeName: gpu-01, nodeUID: u, severity: fatal}"));
  EXPECT_FALSE(apply("{nodeName: gpu-01, nodeUID: u, severity: reset, alerts: [{alertname: A}]}"));
  EXPECT_TRUE(apply("{nodeName: gpu-01, nodeUID: u, severity: reset}"));
  EXPECT_FALSE(apply("{nodeName: gpu-02, nodeUID: u, severity: reset}"));
}

}  // namespace
}  // namespace gpuward::remediator
