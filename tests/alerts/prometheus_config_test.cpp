// The example configurations of Prometheus: they are valid and quick, and take the node's name from
// the target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "core/runtime/files.h"
#include "tests/alerts/alert_rules.h"
#include "tests/alerts/command.h"
#include "tests/support/neighbours.h"
#include "tests/support/temp_dir.h"

namespace gpuward::alerts {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Debian's promtool is built without Kubernetes discovery: a static target with the labels that
// discovery would set replaces it, so that the shipped relabeling runs.
std::string with_static_pods(const std::string& config) {
  static const std::regex kDiscovery(
      R"(( *)kubernetes_sd_configs:\n *- role: (pod|endpoints)\n *namespaces: \{names: \[([\w-]+)\]\}\n)");
  const std::string pods =
      "$1static_configs: [{targets: [\"unused:1\"], labels: {"
      "__meta_kubernetes_pod_label_app_kubernetes_io_name: gpuward-exporter, "
      "__meta_kubernetes_pod_node_name: gpu-1, __meta_kubernetes_pod_ip: 10.1.2.3, "
      "__meta_kubernetes_pod_name: exporter-x}}]\n";
  return std::regex_replace(config, kDiscovery, pods);
}

// alerts/prometheus-kubernetes.yaml and its rules in a folder that this machine's promtool can
// check.
class ClusterConfig {
 public:
  explicit ClusterConfig(std::string promtool) : promtool_(std::move(promtool)) {
    folder_.write("gpuward.rules.yaml", *read_file(alerts_folder() / "gpuward.rules.yaml"));
    folder_.write("prometheus.yaml",
                  with_static_pods(*read_file(alerts_folder() / "prometheus-kubernetes.yaml")));
  }
  [[nodiscard]] Said check() const {
    return run({promtool_, "check", "config", folder_ / "prometheus.yaml"});
  }
  // The targets that promtool finds for a job within a second.
  [[nodiscard]] Said discover(const std::string& job) const {
    return run({promtool_, "check", "service-discovery", "--timeout=1s",
                folder_ / "prometheus.yaml", job});
  }

 private:
  std::string promtool_;
  support::TempDir folder_;
};

class PrometheusConfigInPromtool : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(support::tier_of(GetParam()),
                       support::why_no_program_of(GetParam(), "promtool"));
  }
  static std::string promtool() { return support::program_of(GetParam(), "promtool"); }
};
GPUWARD_ON_DEBIANS_AND_NEWER(PrometheusConfigInPromtool);

TEST_P(PrometheusConfigInPromtool, Passes) {
  const Said said = run({promtool(), "check", "config", alerts_folder() / "prometheus.yaml"});
  EXPECT_EQ(said.exit_code, 0) << said.text;
}

TEST(PrometheusConfig, ScrapesAndJudgesEveryFiveSecondsAndTrustsNoLabelOfAnExporter) {
  for (const char* name : {"prometheus.yaml", "prometheus-kubernetes.yaml"}) {
    const std::string config = *read_file(alerts_folder() / name);
    EXPECT_THAT(config, HasSubstr("\n  scrape_interval: 5s\n")) << name;
    EXPECT_THAT(config, HasSubstr("\n  evaluation_interval: 5s\n")) << name;
    EXPECT_THAT(config, HasSubstr("\n    honor_labels: false\n")) << name;
    EXPECT_THAT(config, Not(HasSubstr("honor_labels: true"))) << name;
  }
}

TEST_P(PrometheusConfigInPromtool, PassesInAClusterToo) {
  const Said said = ClusterConfig(promtool()).check();
  EXPECT_EQ(said.exit_code, 0) << said.text;
}

// The newer one has Kubernetes discovery.
TEST(PrometheusConfig, OfAClusterPassesAsItIsShipped) {
  GPUWARD_REQUIRE_IN(kAll, support::why_no_program_of(support::kNewer, "promtool"));
  const Said said = run({support::program_of(support::kNewer, "promtool"), "check", "config",
                         alerts_folder() / "prometheus-kubernetes.yaml"});
  EXPECT_EQ(said.exit_code, 0) << said.text;
}

TEST_P(PrometheusConfigInPromtool, TakesTheNodeFromThePodThatKubernetesNames) {
  const Said said = ClusterConfig(promtool()).discover("gpuward-exporter");
  const auto kept = said.text.find("\"labels\"");
  ASSERT_NE(kept, std::string::npos) << said.text;
  const std::string labels = said.text.substr(kept);
  EXPECT_THAT(labels, HasSubstr(R"("node": "gpu-1")"));
  EXPECT_THAT(labels, HasSubstr(R"("__address__": "10.1.2.3:10980")"));
  EXPECT_THAT(labels, HasSubstr(R"("pod": "exporter-x")"));
}

TEST_P(PrometheusConfigInPromtool, DropsPodsOfOtherPrograms) {
  const Said said = ClusterConfig(promtool()).discover("gpuward-remediator");
  EXPECT_THAT(said.text, HasSubstr("exporter-x")) << "the pod was never looked at";
  EXPECT_THAT(said.text, Not(HasSubstr(R"("instance")"))) << said.text;
}

}  // namespace
}  // namespace gpuward::alerts
