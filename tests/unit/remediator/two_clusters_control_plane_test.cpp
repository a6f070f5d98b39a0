// Two clusters with the same node names behind one Alertmanager: two real kube-apiservers, a
// remediator in each, and the same notification for both.
#include <gmock/gmock.h>

#include <regex>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "tests/fakes/kube_objects.h"
#include "tests/places.inc"
#include "tests/support/control_plane.h"
#include "tests/support/http_get.h"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::remediator {
namespace {

using support::wait_until;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kNamedToken = "remediator-token-0123456789";

// One cluster with the nodes gpu-01 and gpu-02, and its remediator.
class NamedCluster {
 public:
  void start(const std::string& name) {
    support::ControlPlaneOptions options;
    options.users.push_back({kNamedToken,
                             "system:serviceaccount:gpuward:gpuward-remediator",
                             {"system:serviceaccounts", "system:serviceaccounts:gpuward"}});
    auto plane = support::ControlPlane::start(std::move(options));
    ASSERT_TRUE(plane) << plane.error().message;
    plane_ = std::move(*plane);
    for (const char* file : {"crd.yaml", "remediator-rbac.yaml", "remediator-switch.yaml"})
      ASSERT_TRUE(plane_->apply(std::string(GPUWARD_SOURCE_DIR "/manifests/") + file));
    for (const char* node : {"gpu-01", "gpu-02"})
      ASSERT_TRUE(plane_->apply_text(dump_json(fakes::ready_node(node))));
    ASSERT_THAT(kubectl({"wait", "--for=condition=Established", "--timeout=30s",
                         "crd/remediations.gpuward.dev"}),
                HasSubstr("condition met"));
    const auto policy = folder_.write("policy.yaml", "mode: cordon\ncluster: " + name + "\n");
    auto process = support::Process::spawn(
        {.argv = {GPUWARD_BIN_DIR "/gpuward-remediator", "--web.listen-address=127.0.0.1:0",
                  "--web.telemetry-address=127.0.0.1:0", "--web.insecure",
                  "--config.file=" + policy.string(),
                  "--kubeconfig=" + plane_->kubeconfig_for(kNamedToken).string(),
                  "--log.format=json"}});
    ASSERT_TRUE(process);
    process_ = std::move(*process);
  }

  std::string kubectl(std::vector<std::string> arguments) {
    const auto outcome = plane_->kubectl(std::move(arguments));
    return outcome ? outcome->output + outcome->error_output : outcome.error().message;
  }
  bool is_cordoned(const std::string& node) {
    return kubectl({"get", "node", node}).find("SchedulingDisabled") != std::string::npos;
  }
  http::ClientResponse post(const std::string& payload) {
    const std::string log = process_->error_output();
    std::smatch match;
    const std::regex line("Webhook is served[^\n]*\"port\":\"?([0-9]+)");
    if (!std::regex_search(log, match, line)) return {};
    return support::http_post("http://127.0.0.1:" + match[1].str() + "/api/v1/alerts", payload);
  }
  [[nodiscard]] std::string log() const { return process_->error_output(); }

 private:
  support::TempDir folder_;
  std::unique_ptr<support::ControlPlane> plane_;
  std::unique_ptr<support::Process> process_;
};

class TwoClusters : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
    ASSERT_NO_FATAL_FAILURE(east_.start("east"));
    ASSERT_NO_FATAL_FAILURE(west_.start("west"));
  }

  static Json alert(const std::string& cluster, const std::string& node) {
    SystemClock clock;
    const std::string now = to_rfc3339_ms(clock.wall());
    return {
        {"status", "firing"},
        {"labels",
         {{"alertname", "Bad"}, {"cluster", cluster}, {"node", node}, {"remediation", "reboot"}}},
        {"startsAt", now},
        {"endsAt", now}};
  }

  NamedCluster east_, west_;
};

TEST_F(TwoClusters, EachActOnTheirOwnAlertsAlone) {
  const std::string payload =
      dump_json({{"version", "4"},
                 {"alerts", Json::array({alert("east", "gpu-01"), alert("west", "gpu-02")})}});

  for (NamedCluster* cluster : {&east_, &west_}) {
    http::ClientResponse answer;
    ASSERT_TRUE(
        wait_until([&] { return (answer = cluster->post(payload)).status == 200; }, "a 200"))
        << cluster->log();
    EXPECT_THAT(answer.body, HasSubstr("\"accepted\":1"));
    EXPECT_THAT(answer.body, HasSubstr("\"ignored\":1"));
  }

  ASSERT_TRUE(wait_until([&] { return east_.is_cordoned("gpu-01"); }, "cordon"));
  ASSERT_TRUE(wait_until([&] { return west_.is_cordoned("gpu-02"); }, "cordon"));
  EXPECT_THAT(east_.kubectl({"get", "remediations"}), Not(HasSubstr("gpu-02")));
  EXPECT_THAT(west_.kubectl({"get", "remediations"}), Not(HasSubstr("gpu-01")));
  EXPECT_FALSE(east_.is_cordoned("gpu-02"));
  EXPECT_FALSE(west_.is_cordoned("gpu-01"));
}

}  // namespace
}  // namespace gpuward::remediator
