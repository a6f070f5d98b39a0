// Of one node people and the remediator hear the worst alone: asked of a real Alertmanager that
// runs on the shipped configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "core/runtime/files.h"
#include "tests/alerts/alert_rules.h"
#include "tests/support/http_get.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::alerts {
namespace {

using Json = nlohmann::json;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Json alert(const std::string& name, const std::string& node, Json labels) {
  labels["alertname"] = name;
  labels["node"] = node;
  return {{"labels", std::move(labels)}};
}

// On loopback, told nothing but what the test posts; its webhook leads nowhere.
class RunningAlertmanager {
 public:
  RunningAlertmanager() : address_("127.0.0.1:" + std::to_string(support::free_port())) {
    std::string config = *read_file(alerts_folder() / "alertmanager.yaml");
    const std::string token = folder_.write("token", "secret").string();
    config = std::regex_replace(config, std::regex("/etc/alertmanager/gpuward-token"), token);
    config = std::regex_replace(config, std::regex("http://gpuward-remediator[^ \n]*"),
                                "http://127.0.0.1:9/");
    auto process = support::Process::spawn(
        {.argv = {"prometheus-alertmanager",
                  "--config.file=" + folder_.write("alertmanager.yaml", config).string(),
                  "--storage.path=" + (folder_ / "data").string(),
                  "--web.listen-address=" + address_, "--cluster.listen-address="}});
    if (process) process_ = *std::move(process);
  }
  [[nodiscard]] bool ready() const {
    return support::wait_until([&] { return ask("/-/ready").status == 200; },
                               std::chrono::seconds(30), "Alertmanager is ready");
  }
  [[nodiscard]] int post(const Json& alerts) const {
    return support::http_post("http://" + address_ + "/api/v2/alerts", alerts.dump()).status;
  }
  // Names of a node's alerts that nothing hides, once all `count` of them are there.
  [[nodiscard]] std::set<std::string> heard(const std::string& node, std::size_t count) const {
    Json all;
    const std::string query = "/api/v2/alerts?filter=node%3D" + node;
    (void)support::wait_until(
        [&] {
          all = Json::parse(ask(query).body, nullptr, false);
          return all.is_array() && all.size() == count && is_judged(all);
        },
        std::chrono::seconds(20), "the alerts of " + node + " are judged");
    std::set<std::string> names;
    for (const Json& one : all) {
      if (one.at("status").at("inhibitedBy").empty()) names.insert(one["labels"]["alertname"]);
    }
    return names;
  }

 private:
  // Inhibition is worked out when an alert is about to be sent, or asked for.
  static bool is_judged(const Json& alerts) {
    return std::ranges::none_of(
        alerts, [](const Json& one) { return one.at("status").at("state") == "unprocessed"; });
  }
  [[nodiscard]] http::ClientResponse ask(const std::string& path) const {
    return support::http_get("http://" + address_ + path);
  }
  support::TempDir folder_;
  std::string address_;
  std::unique_ptr<support::Process> process_;
};

Json orders(const std::string& node) {
  return Json::array({
      alert("GpuNodeNeedsReset", node, {{"remediation", "reset"}, {"severity", "warning"}}),
      alert("GpuNodeNeedsAttention", node, {{"remediation", "monitor"}, {"severity", "info"}}),
  });
}

TEST(Inhibition, LeavesTheWorstOfANodeAndHidesItsDetails) {
  GPUWARD_REQUIRE(support::why_no_program("prometheus-alertmanager"));
  const RunningAlertmanager alertmanager;
  ASSERT_TRUE(alertmanager.ready());
  Json all = orders("reset-1");
  for (Json& one : orders("gone-1")) all.push_back(one);
  all.push_back(alert("GpuNodeNeedsReboot", "gone-1", {{"remediation", "reboot"}}));
  all.push_back(alert("GpuNodeNeedsIsolation", "gone-1", {{"remediation", "isolate"}}));
  const Json detail{{"hidden_by", "node"}, {"severity", "warning"}};
  all.push_back(alert("GpuNvlinkDegraded", "reset-1", detail));
  all.push_back(alert("GpuNvlinkDegraded", "well-1", detail));
  all.push_back(
      alert("GpuNodeNeedsAttention", "well-1", {{"remediation", "monitor"}, {"severity", "info"}}));
  all.push_back(alert("GpuExporterDown", "reset-1", {{"severity", "warning"}}));

  ASSERT_EQ(alertmanager.post(all), 200);

  EXPECT_THAT(alertmanager.heard("gone-1", 4), UnorderedElementsAre("GpuNodeNeedsIsolation"));
  EXPECT_THAT(alertmanager.heard("reset-1", 4),
              UnorderedElementsAre("GpuNodeNeedsReset", "GpuExporterDown"));
  // What is only watched hides nothing: people would never hear of a hot GPU.
  EXPECT_THAT(alertmanager.heard("well-1", 2),
              UnorderedElementsAre("GpuNvlinkDegraded", "GpuNodeNeedsAttention"));
}

}  // namespace
}  // namespace gpuward::alerts
