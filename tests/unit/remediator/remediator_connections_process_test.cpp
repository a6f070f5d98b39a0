// The servers that the real binary talks to besides Alertmanager's webhook: the cluster of a
// context, the Alertmanager's own API, Prometheus.
#include <atomic>
#include <chrono>
#include <memory>

#include "tests/support/environment.h"
#include "tests/unit/remediator/peer.h"
#include "tests/unit/remediator/remediator_process.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;
using support::http_get;
using support::http_post;
using support::wait_until;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// gpuward looks at a node that waits for a better report every 15 s, and does not ask a slow
// Prometheus again for 10 s.
constexpr seconds kSeveralLooks{60};
constexpr const char* kRemediations = "/apis/gpuward.dev/v1alpha1/remediations";

// ---- --context

class RemediatorContext : public RemediatorProcess {
 protected:
  // The current context is that of a server that cuts every connection. `good` is the other one.
  void SetUp() override {
    RemediatorProcess::SetUp();
    auto dead = fakes::FakeApiServer::start(clock_);
    ASSERT_TRUE(dead) << dead.error().message;
    dead_ = std::move(*dead);
    dead_->kube().add_fault({.kind = fakes::FaultKind::kDropBefore, .times = -1});
    write("kubeconfig", kubeconfig("dead", {{"dead", dead_->url()}, {"good", server_->url()}}));
  }
  std::unique_ptr<fakes::FakeApiServer> dead_;
};

TEST_F(RemediatorContext, IsReadyThoughTheCurrentContextIsThatOfADeadServer) {
  start({"--context=good"});

  EXPECT_TRUE(wait_until([&] { return http_get(telemetry("/readyz")).status == 200; },
                         "ready: " + process_->error_output()));
  EXPECT_THAT(dead_->kube().requests(), IsEmpty());
}

TEST_F(RemediatorContext, IsNotReadyWithoutOneIfTheCurrentContextIsThatOfADeadServer) {
  start({});
  // A second request shows that the first got no answer.
  ASSERT_TRUE(wait_until([&] { return dead_->kube().requests("GET", "/readyz").size() > 1; },
                         "a second question to the dead server"));

  const auto readiness = http_get(telemetry("/readyz"));

  EXPECT_EQ(readiness.status, 503);
  EXPECT_THAT(readiness.body, HasSubstr("the API server does not answer"));
  EXPECT_THAT(server_->kube().requests(), IsEmpty());
}

// kubectl reads it too, if no flag names one and the program is not in a pod.
TEST_F(RemediatorContext, IsFoundInTheEnvironmentOutsideOfAPod) {
  write("kubeconfig", kubeconfig("good", {{"good", server_->url()}}));
  const support::Environment in_pod("KUBERNETES_SERVICE_HOST", "");
  const auto list = [] { return *support::Process::run({.argv = {kCtl, "list"}}); };
  {
    const support::Environment named("KUBECONFIG", path("kubeconfig"));
    const auto said = list();
    EXPECT_EQ(said.exit_code, 0) << said.error_output;
  }
  const support::Environment named("KUBECONFIG", path("nowhere"));
  const auto said = list();
  EXPECT_EQ(said.exit_code, 2);
  EXPECT_THAT(said.error_output, HasSubstr("outside a pod, set --kubeconfig"));
  EXPECT_THAT(said.error_output, HasSubstr("no kubeconfig"));
}

TEST_F(RemediatorContext, IsThatOfTheEnvironmentForTheRemediatorToo) {
  write("kubeconfig", kubeconfig("good", {{"good", server_->url()}}));
  auto started = support::Process::spawn(
      {.argv = {kBinary, "--web.listen-address=127.0.0.1:0", "--web.telemetry-address=127.0.0.1:0",
                "--web.bearer-token-file=" + path("token"), "--log.format=json"},
       .env = {{"KUBERNETES_SERVICE_HOST", ""}, {"KUBECONFIG", path("kubeconfig")}}});
  ASSERT_TRUE(started);
  process_ = std::move(*started);
  ASSERT_TRUE(wait_until([&] { return port_in("Telemetry is served") != 0; }, "telemetry"));

  EXPECT_TRUE(wait_until([&] { return http_get(telemetry("/readyz")).status == 200; }, "ready"))
      << process_->error_output();
  EXPECT_THAT(dead_->kube().requests(), IsEmpty());
}

// ---- --alertmanager.url

class RemediatorWithAlertmanager : public RemediatorProcess {
 protected:
  void SetUp() override {
    RemediatorProcess::SetUp();
    server_->kube().create("/api/v1/nodes", fakes::ready_node("gpu-02"));
  }
  // The alerts as GET /api/v2/alerts returns them.
  std::string active_alerts(const std::vector<std::string>& nodes) {
    Json list = Json::array();
    for (const std::string& node : nodes) {
      Json alert = firing(node);
      alert["status"] = {
          {"state", "active"}, {"silencedBy", Json::array()}, {"inhibitedBy", Json::array()}};
      list.push_back(std::move(alert));
    }
    return dump_json(list);
  }
};

TEST_F(RemediatorWithAlertmanager, TakesOutTheNodeThatANotificationWasCutShortOf) {
  const Peer alertmanager("/api/v2/alerts", [&] { return active_alerts({"gpu-01", "gpu-02"}); });
  write("policy.yaml", "budgets: {cordon: {nodes: 2}}\n");
  start_ready({"--mode=cordon", "--config.file=" + path("policy.yaml"),
               "--alertmanager.url=" + alertmanager.url()});

  deliver(notification(firing(), 1));

  EXPECT_TRUE(wait_until([&] { return is_cordoned("gpu-02") && is_tainted("gpu-02"); },
                         "gpu-02 tainted and cordoned"));
}

// ---- --prometheus.url

class RemediatorWithPrometheus : public RemediatorProcess {
 protected:
  void SetUp() override {
    RemediatorProcess::SetUp();
    write("policy.yaml", "mode: cordon\nreturn_to_service: {enabled: true}\n");
  }

  // The answer of Prometheus about an exporter on gpu-01 that has just measured.
  std::string report() const {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    const auto now = std::chrono::duration<double>(since_epoch).count();
    const auto sample = [&](const char* what, const std::string& value) {
      return Json{{"metric", {{"what", what}, {"boot_id", "boot-gpu-01"}}},
                  {"value", Json::array({now, value})}};
    };
    const std::string severity = std::to_string(severity_.load());
    return dump_json(
        {{"status", "success"},
         {"data",
          {{"resultType", "vector"},
           {"result",
            Json::array({sample("measured_at", std::to_string(now)), sample("severity", severity),
                         sample("confirmed_severity", severity), sample("kernel_log_up", "1"),
                         sample("boot", "1")})}}}});
  }

  // An alert quarantines the node, and ends.
  void fall_ill_and_lose_the_alert() {
    start_ready({"--config.file=" + path("policy.yaml"), "--prometheus.url=" + prometheus_.url()});
    deliver(alert());
    ASSERT_TRUE(wait_until([&] { return phase() == "Quarantined" && is_cordoned(); },
                           "gpu-01 quarantined"));
    ASSERT_TRUE(is_tainted());
    Json resolved = firing();
    resolved["status"] = "resolved";
    resolved["endsAt"] = to_rfc3339_ms(clock_.wall());
    deliver(notification(resolved));
  }
  Json status() {
    const Json list = server_->kube().get(kRemediations);
    return list["items"].empty() ? Json::object()
                                 : list["items"][0].value("status", Json::object());
  }
  std::string phase() { return status().value("phase", ""); }

  std::atomic<int> severity_{3};  // reboot
  Peer prometheus_{"/api/v1/query", [this] { return report(); }};
};

TEST_F(RemediatorWithPrometheus, ReleasesANodeThatIsReportedWellAfterItsAlertHasEnded) {
  severity_ = 0;

  fall_ill_and_lose_the_alert();

  EXPECT_TRUE(wait_until([&] { return phase() == "Released"; }, kSeveralLooks, "Released"));
  EXPECT_FALSE(is_tainted());
  EXPECT_FALSE(is_cordoned());
}

TEST_F(RemediatorWithPrometheus, TakesANodeOutOfServiceAgainAfterItsReturn) {
  severity_ = 0;
  fall_ill_and_lose_the_alert();
  ASSERT_TRUE(wait_until([&] { return phase() == "Released"; }, kSeveralLooks, "Released"));
  ASSERT_FALSE(is_cordoned());

  severity_ = 3;
  Json again = firing();
  again["fingerprint"] = "cd34";
  deliver(notification(again));

  EXPECT_TRUE(wait_until([&] { return is_cordoned() && is_tainted(); }, "the cordon again"));
  EXPECT_EQ(server_->kube().get(kRemediations)["items"].size(), 2U);
}

TEST_F(RemediatorWithPrometheus, KeepsANodeThatIsReportedIllAfterItsAlertHasEnded) {
  fall_ill_and_lose_the_alert();

  EXPECT_TRUE(wait_until(
      [&] {
        return status().value("message", "").find("still has severity reboot") != std::string::npos;
      },
      kSeveralLooks, "the objection"));
  EXPECT_EQ(phase(), "Quarantined");
  EXPECT_TRUE(is_tainted());
  EXPECT_TRUE(is_cordoned());
}

// ---- gpuwardctl status and doctor

class RemediatorSources : public RemediatorProcess {
 protected:
  std::string ctl(const std::string& command) {
    const auto outcome =
        support::Process::run({.argv = {kCtl, command, "--kubeconfig=" + path("kubeconfig")}});
    EXPECT_TRUE(outcome);
    return outcome ? outcome->output : std::string();
  }
  bool comes_to_say(const std::string& command, const std::string& text) {
    return wait_until([&] { return ctl(command).find(text) != std::string::npos; }, kSeveralLooks,
                      text);
  }
  static std::string series(const std::string& what, const std::string& node) {
    return R"({"metric":{"what":")" + what + "\"" +
           (node.empty() ? "" : R"(,"node":")" + node + "\"") + R"(},"value":[1,"1"]})";
  }

  Peer prometheus_{"/api/v1/query", [] {
                     return R"({"status":"success","data":{"result":[)" + series("up", "gpu-01") +
                            "," + series("remediator", "") + "," + series("heartbeat", "") + "]}}";
                   }};
};

TEST_F(RemediatorSources, AreNotConnectedUntilPrometheusIsSetAndTheWebhookIsCalled) {
  EXPECT_THAT(ctl("doctor"), HasSubstr("the first broken link is remediator."));
  start_ready();
  EXPECT_TRUE(comes_to_say("doctor", "the first broken link is target."));
  EXPECT_THAT(ctl("status"), HasSubstr("Webhook: NOT CONNECTED"));
  process_.reset();

  start_ready({"--prometheus.url=" + prometheus_.url()});
  EXPECT_TRUE(comes_to_say("doctor", "the first broken link is webhook."));
  Json heartbeat = firing();
  heartbeat["labels"] = {{"alertname", "GpuwardDeadMansSwitch"}};
  deliver(dump_json({{"version", "4"},
                     {"receiver", "gpuward-remediator"},
                     {"externalURL", "http://am:9093"},
                     {"alerts", Json::array({heartbeat})}}));
  EXPECT_TRUE(comes_to_say("doctor", "No link is broken."));
  EXPECT_THAT(ctl("status"), AllOf(HasSubstr("from http://am:9093 (receiver gpuward-remediator)"),
                                   HasSubstr("Prometheus scrapes 1 of 1 exporters")));
}

}  // namespace
}  // namespace gpuward::remediator
