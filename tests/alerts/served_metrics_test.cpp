// A rule on a metric that no program serves never fires: every metric in the rules is on a real
// exporter's page, or in the list of the metrics of other programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime/files.h"
#include "tests/alerts/alert_rules.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::alerts {
namespace {

// Alertmanager serves it itself (0.25 to 0.34); the e2e test checks the remediator's own metrics.
bool is_of_others(const std::string& metric) {
  return metric == "alertmanager_notifications_failed_total" ||
         metric.starts_with("gpuward_remediator_") || metric == "gpuward_notifications_total";
}

// These metrics need a kubelet, a PCI bus, an instance type or a finished check. docs/metrics.md
// has them, and another test compares that page with the program.
bool is_absent_here(const std::string& metric) {
  static const std::string page = *read_file(GPUWARD_SOURCE_DIR "/docs/metrics.md");
  return (metric == "gpuward_gpu_pod_info" || metric == "gpuward_instance_info" ||
          metric == "gpuward_node_tainted" || metric == "gpuward_gpus_counted_on_pci" ||
          metric.starts_with("gpuward_announcement") || metric.starts_with("gpuward_check_")) &&
         page.find("\n| `" + metric + "` |") != std::string::npos;
}

// An exporter that has read two Xids, a fatal one and one that is in no table, and nothing else.
class ExporterWithFindings {
 public:
  ExporterWithFindings() : port_(support::free_port()) {
    folder_.write(
        "kernel.log",
        "NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the "
        "bus.\nNVRM: Xid (PCI:0000:4e:00): 999, pid=1, name=x, New in this driver\n");
    folder_.write("gpus.yaml", "gpus: [{pci: \"0000:4e:00.0\", uuid: GPU-1}]\n");
    auto process = support::Process::spawn(
        {.argv = {GPUWARD_BIN_DIR "/gpuward-exporter", "--web.listen-address=" + address(),
                  "--kernel-log.path=" + (folder_ / "kernel.log").string(),
                  "--gpu.simulate=" + (folder_ / "gpus.yaml").string(),
                  "--state.path=" + (folder_ / "state").string()}});
    if (process) process_ = *std::move(process);
  }

  // Call it once the exporter serves.
  void inject() const {
    const auto outcome = support::Process::run(
        {.argv = {GPUWARD_BIN_DIR "/gpuward-exporter", "inject", "xid", "79", "--gpu=0",
                  "--state.path=" + (folder_ / "state").string()}});
    EXPECT_TRUE(outcome && outcome->exit_code == 0);
  }

  [[nodiscard]] std::string page() const {
    return support::http_get("http://" + address() + "/metrics").body;
  }

 private:
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  support::TempDir folder_;
  int port_;
  std::unique_ptr<support::Process> process_;
};

TEST(RuleMetrics, AreFoundInTheRules) {
  EXPECT_THAT(metrics_in_rules(),
              ::testing::IsSupersetOf({"gpuward_node_severity", "gpuward_finding",
                                       "gpuward_xid_policy_info", "gpuward_kernel_log_up"}));
}

TEST(RuleMetrics, AreServedByTheExporterOrByOneThatWeName) {
  const ExporterWithFindings exporter;
  ASSERT_TRUE(support::wait_until(
      [&] { return exporter.page().find("gpuward_node_severity 3") != std::string::npos; },
      "the exporter has judged the kernel log"))
      << exporter.page();
  exporter.inject();
  ASSERT_TRUE(support::wait_until(
      [&] { return exporter.page().find("gpuward_drill_severity 3") != std::string::npos; },
      "the drill has begun"));
  const std::string page = exporter.page();
  for (const std::string& metric : metrics_in_rules()) {
    if (is_of_others(metric) || is_absent_here(metric)) continue;
    EXPECT_THAT(page, ::testing::ContainsRegex("\n" + metric + "[ {]"));
  }
}

// Labels that expressions use in joins and selectors.
TEST(RuleMetrics, LabelRenameIsSeenByTheRulesThatJoinOnThem) {
  const ExporterWithFindings exporter;
  ASSERT_TRUE(support::wait_until(
      [&] { return exporter.page().find("gpuward_node_severity 3") != std::string::npos; },
      "the exporter has judged the kernel log"));
  const std::string page = exporter.page();
  using ::testing::ContainsRegex;
  EXPECT_THAT(page,
              ContainsRegex("gpuward_xid_policy_info[{][^\n]*xid=\"79\"[^\n]*severity=\"reboot\""));
  EXPECT_THAT(page,
              ContainsRegex("gpuward_xid_policy_info[{][^\n]*xid=\"999\"[^\n]*source=\"unknown\""));
  EXPECT_THAT(
      page,
      ContainsRegex("gpuward_finding_first_seen_timestamp_seconds[{]check=\"xid\",code=\"999\""));
  EXPECT_THAT(
      page, ContainsRegex("gpuward_finding[{][^\n]*severity=\"reboot\"[^\n]*evidence=\"[a-z_]+\""));
}

}  // namespace
}  // namespace gpuward::alerts
