// Operators and the remediator receive only the worst alert of a node. The test asks a real
// Alertmanager that runs with the shipped configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "core/runtime/files.h"
#include "tests/alerts/alert_rules.h"
#include "tests/support/http_get.h"
#include "tests/support/neighbours.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::alerts {
namespace {

using Json = nlohmann::json;

Json alert(const std::string& name, const std::string& node, Json labels) {
  labels["alertname"] = name;
  labels["node"] = node;
  return {{"labels", std::move(labels)}};
}

// Listens on loopback and has only the alerts that the test posts; its webhook leads nowhere.
class RunningAlertmanager {
 public:
  explicit RunningAlertmanager(const std::string& which)
      : address_("127.0.0.1:" + std::to_string(support::free_port())) {
    std::string config = *read_file(alerts_folder() / "alertmanager.yaml");
    const std::string token = folder_.write("token", "secret").string();
    config = std::regex_replace(config, std::regex("/etc/alertmanager/gpuward-token"), token);
    config = std::regex_replace(config, std::regex("http://gpuward-remediator[^ \n]*"),
                                "http://127.0.0.1:9/");
    auto process = support::Process::spawn(
        {.argv = {support::program_of(which, "prometheus-alertmanager"),
                  "--config.file=" + folder_.write("alertmanager.yaml", config).string(),
                  "--storage.path=" + (folder_ / "data").string(),
                  "--web.listen-address=" + address_, "--cluster.listen-address="}});
    if (process) process_ = *std::move(process);
  }
  [[nodiscard]] bool ready() const {
    return support::wait_until([&] { return ask("/-/ready").status == 200; },
                               "Alertmanager is ready");
  }
  [[nodiscard]] int post(const Json& alerts) const {
    return support::http_post("http://" + address_ + "/api/v2/alerts", alerts.dump()).status;
  }
  // Names of a node's alerts that are not inhibited now.
  [[nodiscard]] std::set<std::string> heard(const std::string& node) const {
    const Json all = Json::parse(ask("/api/v2/alerts?filter=node%3D" + node).body, nullptr, false);
    std::set<std::string> names;
    if (!all.is_array()) return names;
    for (const Json& one : all) {
      if (one.at("status").at("inhibitedBy").empty()) names.insert(one["labels"]["alertname"]);
    }
    return names;
  }
  // An inhibiting alert may reach Alertmanager's inhibitor a moment after the alert itself.
  void expect_heard(const std::string& node, const std::set<std::string>& names) const {
    (void)support::poll_until([&] { return heard(node) == names; });
    EXPECT_EQ(heard(node), names) << node;
  }

 private:
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

class Inhibition : public ::testing::TestWithParam<const char*> {};
GPUWARD_ON_DEBIANS_AND_NEWER(Inhibition);

TEST_P(Inhibition, LeavesTheWorstOfANodeAndHidesItsDetails) {
  GPUWARD_REQUIRE_IN(support::tier_of(GetParam()),
                     support::why_no_program_of(GetParam(), "prometheus-alertmanager"));
  const RunningAlertmanager alertmanager(GetParam());
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

  alertmanager.expect_heard("gone-1", {"GpuNodeNeedsIsolation"});
  alertmanager.expect_heard("reset-1", {"GpuNodeNeedsReset", "GpuExporterDown"});
  // An alert of severity monitor inhibits nothing: otherwise operators would not hear of a hot GPU.
  alertmanager.expect_heard("well-1", {"GpuNvlinkDegraded", "GpuNodeNeedsAttention"});
}

}  // namespace
}  // namespace gpuward::alerts
