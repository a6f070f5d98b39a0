// The real remediator beside a real Loki: kernel lines as the exporter sends them, up to the taint,
// and the report about a silent node.
#include <gmock/gmock.h>

#include "exporter/publish/loki_pusher.h"
#include "tests/loki/target.h"
#include "tests/unit/remediator/remediator_process.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;

constexpr const char* kLost =
    "NVRM: Xid (PCI:0000:4e:00): 79, pid=1, name=x, GPU has fallen off the bus.";

class RemediatorOnRealLoki : public RemediatorProcess,
                             public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    RemediatorProcess::SetUp();
    // Enough nodes that no budget is used up.
    for (int i = 10; i < 40; ++i)
      server_->kube().create("/api/v1/nodes", fakes::ready_node("gpu-" + std::to_string(i)));
  }
  // Sends a line as that node's exporter sends its kernel log.
  void send_line(const std::string& node, const std::string& text, minutes ago = minutes(0)) {
    exporter::Store store{exporter::State()};
    Log log(LogLevel::kError, LogFormat::kLogfmt);
    exporter::LokiPusher pusher({.url = loki_.url(), .tenant = loki::kTenant, .node = node},
                                std::make_unique<http::CurlClient>(), store, clock_, log);
    pusher.offer(text, clock_.wall() - ago);
    ASSERT_TRUE(support::wait_until([&] { return store.health().loki->sent == 1; }, "sent"))
        << loki_.said();
  }
  void start_on_loki(std::vector<std::string> flags) {
    flags.insert(flags.end(),
                 {"--loki.url=" + loki_.url(), "--loki.tenant=" + std::string(loki::kTenant)});
    start_ready(std::move(flags));
  }
  void expect_taint(const std::string& node) {
    ASSERT_TRUE(support::wait_until([&] { return is_tainted(node); }, "the taint"))
        << process_->error_output() << remediations();
  }
  std::string remediations() {
    return dump_json(server_->kube().get("/apis/gpuward.dev/v1alpha1/remediations"));
  }
  std::string metrics() { return support::http_get(telemetry("/metrics")).body; }

  loki::RealLoki loki_{loki::Limits()};
};
GPUWARD_ON_LOKI(RemediatorOnRealLoki, loki::real_kinds());

TEST_P(RemediatorOnRealLoki, TaintsANodeByWhatItsKernelHasSaid) {
  send_line("gpu-01", kLost);

  start_on_loki({"--mode=cordon"});

  expect_taint("gpu-01");
  EXPECT_THAT(remediations(), HasSubstr("log xid 79"));
  EXPECT_FALSE(is_tainted("gpu-11"));
}

TEST_P(RemediatorOnRealLoki, TakesWhatWasSaidWhileLokiOrItselfWasAwayAndNothingTwice) {
  send_line("gpu-01", kLost);
  start_on_loki({"--mode=cordon"});
  expect_taint("gpu-01");
  loki_.go_away();
  ASSERT_TRUE(support::wait_until(
      [&] {
        return metrics().contains("source_errors_total{source=\"loki\"}") &&
               !metrics().contains("source_errors_total{source=\"loki\"} 0");
      },
      "a question without an answer"))
      << metrics();
  loki_.come_back();
  send_line("gpu-11", kLost);
  expect_taint("gpu-11");

  process_.reset();
  // Another Xid, because the same one on three nodes at once would be a storm.
  send_line("gpu-12", "NVRM: Xid (PCI:0000:4e:00): 95, pid=1, name=x, Uncontained ECC error.");
  start_on_loki({"--mode=cordon"});

  expect_taint("gpu-12");
  EXPECT_THAT(metrics(), HasSubstr("source_findings_total{source=\"loki\"} 1"));
}

TEST_P(RemediatorOnRealLoki, TellsTheLastKernelLinesOfASilentNode) {
  send_line("gpu-01", "mlx5_core 0000:5e:00.0: firmware has stopped", minutes(12));
  const std::string long_ago = to_rfc3339(clock_.wall() - minutes(11));
  const Json condition = {{"type", "Ready"},
                          {"status", "Unknown"},
                          {"reason", "NodeStatusUnknown"},
                          {"lastTransitionTime", long_ago},
                          {"lastHeartbeatTime", long_ago}};
  server_->kube().patch("/api/v1/nodes/gpu-01",
                        {{"metadata", {{"labels", {{"nvidia.com/gpu.present", "true"}}}}}});
  server_->kube().patch_status("/api/v1/nodes/gpu-01",
                               {{"status", {{"conditions", Json::array({condition})}}}});
  write("policy.yaml", "mode: cordon\nstartup_grace: 0s\nsilent: {after: 1m, limit: {nodes: 1}}\n");

  start_on_loki({"--config.file=" + path("policy.yaml")});

  EXPECT_TRUE(support::wait_until(
      [&] { return remediations().contains("mlx5_core 0000:5e:00.0: firmware has stopped"); },
      "the story"))
      << remediations() << process_->error_output();
}

}  // namespace
}  // namespace gpuward::remediator
