// The prometheus-operator itself: it reads gpuward's ServiceMonitors, PrometheusRule and
// AlertmanagerConfig from a real kube-apiserver and writes configurations, with which Prometheus
// and Alertmanager must behave as with those in alerts/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <mutex>
#include <regex>

#include "core/http/server/server.h"
#include "core/runtime/clock.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "core/runtime/yaml.h"
#include "tests/places.inc"
#include "tests/support/certificates.h"
#include "tests/support/control_plane.h"
#include "tests/support/http_get.h"
#include "tests/support/neighbours.h"
#include "tests/support/ports.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The neighbours, as a user of the operator writes them; one of the Alertmanagers lacks the
// strategy that manifests/alertmanager-config.yaml requires.
constexpr const char* kNeighbours = R"(
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: k8s, namespace: monitoring}
spec:
  version: v2.42.0
  serviceMonitorSelector: {}
  serviceMonitorNamespaceSelector: {}
  ruleSelector: {}
  ruleNamespaceSelector: {}
---
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: main, namespace: monitoring}
spec:
  version: v0.25.0
  alertmanagerConfigSelector: {}
  alertmanagerConfigNamespaceSelector: {}
  alertmanagerConfigMatcherStrategy: {type: None}
---
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: newer, namespace: monitoring}
spec:
  version: vNEWER
  alertmanagerConfigSelector: {}
  alertmanagerConfigNamespaceSelector: {}
  alertmanagerConfigMatcherStrategy: {type: None}
---
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: narrow, namespace: monitoring}
spec:
  version: v0.25.0
  alertmanagerConfigSelector: {}
  alertmanagerConfigNamespaceSelector: {}
)";

std::string neighbours() {
  return std::regex_replace(kNeighbours, std::regex("NEWER"),
                            support::version_of(support::kAlertmanager));
}

constexpr const char* kToken = "token-of-the-webhook-0123456789";

std::string why_not() {
  for (const std::string& why :
       {support::ControlPlane::why_unavailable(),
        support::why_not_built(support::kOperator, "operator"),
        support::why_no_program("prometheus-alertmanager"), support::why_no_program("amtool"),
        support::why_no_program("promtool"),
        support::why_not_built(support::kAlertmanager, "alertmanager")}) {
    if (!why.empty()) return why;
  }
  return {};
}

class PrometheusOperator : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!why_not().empty()) return;
    folder_ = std::make_unique<support::TempDir>();
    const support::CertificateAuthority authority("operators");
    const auto keys = authority.issue_client("operator", "system:masters");
    const auto ca = folder_->write("client-ca.pem", authority.certificate_pem());
    auto plane =
        support::ControlPlane::start({.apiserver_flags = {"--client-ca-file=" + ca.string()}});
    ASSERT_TRUE(plane) << plane.error().message;
    plane_ = std::move(*plane);
    must({"create", "-f", support::folder_of(support::kOperator).string()});
    ASSERT_TRUE(support::wait_until(
        [] {
          const auto outcome = plane_->kubectl(
              {"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"});
          return outcome && outcome->exit_code == 0;
        },
        "the kinds"));
    for (const char* name : {"gpuward", "gpu-healthcheck", "monitoring"})
      must({"create", "namespace", name});
    must({"-n", "gpuward", "create", "secret", "generic", "gpuward-webhook",
          "--from-literal=token=" + std::string(kToken)});
    auto process = support::Process::spawn(
        {.argv = {(support::folder_of(support::kOperator) / "operator").string(),
                  "-apiserver=" + plane_->url(), "-ca-file=" + plane_->ca_file().string(),
                  "-cert-file=" + folder_->write("operator.pem", keys.certificate_pem).string(),
                  "-key-file=" + folder_->write("operator.key", keys.key_pem).string(),
                  "-kubelet-endpoints=false", "-web.listen-address=127.0.0.1:0"}});
    ASSERT_TRUE(process) << process.error().message;
    operator_ = std::move(*process);
    for (const char* file : {"monitoring.yaml", "prometheus-rule.yaml", "alertmanager-config.yaml"})
      must({"apply", "--server-side", "-f", std::string(GPUWARD_SOURCE_DIR "/manifests/") + file});
    must({"apply", "-f", "-"}, neighbours());
  }
  static void TearDownTestSuite() {
    operator_.reset();
    plane_.reset();
    folder_.reset();
  }
  void SetUp() override { GPUWARD_REQUIRE(why_not()); }

  static std::string must(std::vector<std::string> arguments, const std::string& input = {}) {
    const auto outcome = plane_->kubectl(std::move(arguments), input);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().message;
      return {};
    }
    EXPECT_EQ(outcome->exit_code, 0) << outcome->error_output;
    return outcome->output;
  }

  // A file that the operator has packed into a Secret, once it contains `sign`.
  static std::string packed(const std::string& secret, const std::string& key,
                            const std::string& sign) {
    std::string text;
    const auto has_sign = [&] {
      const auto printed =
          plane_->kubectl({"-n", "monitoring", "get", "secret", secret, "-o",
                           "go-template={{index .data \"" + key + "\" | base64decode}}"});
      if (!printed || printed->exit_code != 0) return false;
      const auto opened =
          support::Process::run({.argv = {"gzip", "-dc"}, .input = printed->output});
      if (!opened || opened->exit_code != 0) return false;
      text = opened->output;
      return text.find(sign) != std::string::npos;
    };
    EXPECT_TRUE(support::wait_until(has_sign, "what the operator writes"))
        << operator_->error_output() << text;
    return text;
  }
  // The configuration of the Alertmanager with that name.
  static std::string alertmanager_config(const std::string& name) {
    return packed("alertmanager-" + name + "-generated", "alertmanager.yaml.gz",
                  "gpuward/gpuward/gpuward-remediator");
  }

  // The receivers of an alert with these labels.
  static std::string receivers_of(const std::string& amtool, const std::string& config,
                                  std::vector<std::string> labels) {
    std::vector<std::string> argv = {
        amtool, "config", "routes", "test",
        "--config.file=" + folder_->write("alertmanager.yaml", config).string()};
    argv.insert(argv.end(), labels.begin(), labels.end());
    const auto outcome = support::Process::run({.argv = std::move(argv)});
    return outcome ? outcome->output + outcome->error_output : outcome.error().message;
  }

  static std::unique_ptr<support::TempDir> folder_;
  static std::unique_ptr<support::ControlPlane> plane_;
  static std::unique_ptr<support::Process> operator_;
};

std::unique_ptr<support::TempDir> PrometheusOperator::folder_;
std::unique_ptr<support::ControlPlane> PrometheusOperator::plane_;
std::unique_ptr<support::Process> PrometheusOperator::operator_;

TEST_F(PrometheusOperator, WritesJobsWhoseTargetsHaveTheNamesThatTheRulesBelieve) {
  const std::string config =
      packed("prometheus-k8s", "prometheus.yaml.gz", "gpu-healthcheck/gpuward-exporter");

  const auto file = YamlFile::parse(config, "prometheus.yaml");
  ASSERT_TRUE(file) << file.error().message;
  std::vector<std::string> jobs;
  for (const YamlMap& job : file->root().maps("scrape_configs")) {
    std::string name;
    job.read("job_name", name);
    if (name.find("gpuward") == std::string::npos) continue;
    std::string renamed, node_of;
    for (const YamlMap& rule : job.maps("relabel_configs")) {
      std::string target, replacement;
      std::vector<std::string> sources;
      rule.read("target_label", target);
      rule.read("replacement", replacement);
      rule.read("source_labels", sources);
      if (target == "job" && !replacement.empty()) renamed = replacement;
      if (target == "node" &&
          sources == std::vector<std::string>{"__meta_kubernetes_pod_node_name"})
        node_of = sources.front();
    }
    jobs.push_back(renamed + (node_of.empty() ? "" : " with node"));
  }
  EXPECT_THAT(jobs,
              ::testing::UnorderedElementsAre("gpuward-exporter with node", "gpuward-remediator"));
}

TEST_F(PrometheusOperator, HandsOnTheRulesUnchanged) {
  std::string rules;
  ASSERT_TRUE(support::wait_until(
      [&] {
        const auto printed =
            plane_->kubectl({"-n", "monitoring", "get", "configmap", "prometheus-k8s-rulefiles-0",
                             "-o", "go-template={{range .data}}{{.}}{{end}}"});
        if (printed && printed->exit_code == 0) rules = printed->output;
        return rules.find("GpuNodeNeedsIsolation") != std::string::npos;
      },
      "the rules"));

  // Tests the rules on this Prometheus' data.
  folder_->write("gpuward.rules.yaml", rules);
  const auto copy =
      folder_->write("gpuward.rules.test.yaml",
                     read_file(GPUWARD_SOURCE_DIR "/alerts/gpuward.rules.test.yaml").value_or(""));
  const auto outcome = support::Process::run({.argv = {"promtool", "test", "rules", copy.string()}},
                                             std::chrono::minutes(5));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 0) << outcome->output << outcome->error_output;
}

class WithEachAlertmanager : public PrometheusOperator,
                             public ::testing::WithParamInterface<const char*> {
 protected:
  static std::string config() {
    return alertmanager_config(GetParam() == support::kDebians ? "main" : "newer");
  }
};
GPUWARD_ON_DEBIANS_AND_NEWER(WithEachAlertmanager);

TEST_P(WithEachAlertmanager, RoutesAlertsOfAnyNamespaceIfTheStrategyIsNone) {
  const std::string amtool = support::program_of(GetParam(), "amtool");
  const std::string wide = config(), narrow = alertmanager_config("narrow");
  for (const char* space : {"namespace=gpu-healthcheck", "namespace=", "namespace=gpuward"}) {
    const std::vector<std::string> labels = {"node=gpu-1", "remediation=reboot",
                                             "severity=critical", space};
    EXPECT_THAT(
        receivers_of(amtool, wide, labels),
        AllOf(HasSubstr("gpuward/gpuward/gpuward-remediator"), HasSubstr("gpuward/gpuward/pager")))
        << space;
  }
  // The comment in the manifest warns of this.
  EXPECT_THAT(receivers_of(amtool, narrow,
                           {"node=gpu-1", "remediation=reboot", "severity=critical",
                            "namespace=gpu-healthcheck"}),
              Not(HasSubstr("gpuward-remediator")));
}

// A receiver of the webhook, which stores the requests.
class Receiver {
 public:
  Receiver() {
    http::ServerOptions options;
    options.listen_addresses = {"127.0.0.1:0"};
    auto server = http::Server::start(
        options, {{.path = "/api/v1/alerts",
                   .methods = {"POST"},
                   .handler = [this](const http::Request& request) { return take(request); }}});
    if (!server) throw std::runtime_error(server.error().message);
    server_ = std::move(*server);
  }
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(server_->ports().front()) + "/api/v1/alerts";
  }
  [[nodiscard]] std::string all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  [[nodiscard]] std::string credentials() {
    const std::lock_guard lock(mutex_);
    return credentials_;
  }

 private:
  http::Response take(const http::Request& request) {
    const std::lock_guard lock(mutex_);
    all_ += request.body + "\n";
    credentials_ = request.header("Authorization");
    return http::Response::json(200, "{}");
  }

  std::mutex mutex_;
  std::string all_, credentials_;
  std::unique_ptr<http::Server> server_;
};

TEST_P(WithEachAlertmanager, LetsItCallTheWebhookWithItsTokenAboutEachNode) {
  Receiver receiver;
  std::string config = WithEachAlertmanager::config();
  const std::string shipped = "http://gpuward-remediator.gpuward.svc:10981/api/v1/alerts";
  const auto at = config.find(shipped);
  ASSERT_NE(at, std::string::npos) << config;
  config.replace(at, shipped.size(), receiver.url());
  const support::TempDir folder;
  const int port = support::free_port();
  const std::string url = "http://127.0.0.1:" + std::to_string(port);
  auto alertmanager = support::Process::spawn(
      {.argv = {support::program_of(GetParam(), "prometheus-alertmanager"),
                "--config.file=" + folder.write("alertmanager.yaml", config).string(),
                "--storage.path=" + (folder.path() / "alertmanager").string(),
                "--web.listen-address=127.0.0.1:" + std::to_string(port),
                "--cluster.listen-address="}});
  ASSERT_TRUE(alertmanager) << alertmanager.error().message;
  ASSERT_TRUE(
      support::wait_until([&] { return support::http_get(url + "/-/ready").status == 200; }, "it"))
      << (*alertmanager)->error_output();

  SystemClock clock;
  Json alerts = Json::array();
  for (const char* node : {"gpu-1", "gpu-2"}) {
    alerts.push_back({{"labels",
                       {{"alertname", "GpuNodeNeedsReboot"},
                        {"node", node},
                        {"namespace", "gpu-healthcheck"},
                        {"remediation", "reboot"},
                        {"severity", "critical"}}},
                      {"startsAt", to_rfc3339(clock.wall())}});
  }
  ASSERT_EQ(support::http_post(url + "/api/v2/alerts", dump_json(alerts)).status, 200);

  EXPECT_TRUE(support::wait_until(
      [&] {
        const std::string all = receiver.all();
        return all.find("\"gpu-1\"") != std::string::npos &&
               all.find("\"gpu-2\"") != std::string::npos;
      },
      "both nodes at the webhook"))
      << receiver.all() << (*alertmanager)->error_output();
  EXPECT_EQ(receiver.credentials(), "Bearer " + std::string(kToken));
}

}  // namespace
}  // namespace gpuward
