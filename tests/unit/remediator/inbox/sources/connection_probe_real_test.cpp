// The query about the sources, answered by a real Prometheus whose rules make the series.
#include <gmock/gmock.h>

#include <memory>

#include "remediator/inbox/sources/connection_probe.h"
#include "tests/support/ports.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/inbox/sources/real_prometheus.h"

namespace gpuward::remediator {
namespace {

constexpr const char* kSeries = R"(groups:
  - name: any
    rules:
      - {record: up, expr: vector(1), labels: {job: gpuward-exporter, node: gpu-01}}
      - {record: up, expr: vector(0), labels: {job: gpuward-exporter, node: gpu-02}}
      - {record: up, expr: vector(1), labels: {job: gpuward-exporter, node: gpu-03}}
      - {record: up, expr: vector(1), labels: {job: gpuward-exporter}}
      - {record: gpuward_node_severity, expr: vector(3), labels: {job: gpuward-exporter, node: gpu-01}}
      - {record: gpuward_node_severity, expr: vector(0), labels: {job: other, node: gpu-09}}
      - {record: gpuward_remediator_leads, expr: vector(1), labels: {job: gpuward-remediator}}
      - {alert: Bad, expr: vector(1), labels: {node: gpu-01, remediation: reboot}}
      - {alert: GpuwardDeadMansSwitch, expr: vector(1)}
)";

class SourcesOfARealPrometheus : public ::testing::TestWithParam<const char*> {};

TEST_P(SourcesOfARealPrometheus, AreSeen) {
  GPUWARD_REQUIRE_IN(support::tier_of(GetParam()),
                     support::why_no_program_of(GetParam(), "prometheus"));
  const support::TempDir folder;
  const int port = support::free_port();
  const auto rules = folder.write("rules.yaml", kSeries);
  const auto config = folder.write("prometheus.yaml",
                                   "global: {evaluation_interval: 1s}\n"
                                   "rule_files: [" +
                                       rules.string() + "]\n");
  const auto process = spawn_prometheus(GetParam(), folder, config, port);
  ASSERT_TRUE(process.has_value()) << process.error().message;
  http::CurlClient client;
  CurrentPolicy policy{Policy{}};
  ConnectionProbe probe("http://127.0.0.1:" + std::to_string(port), &client, "", nullptr, policy);

  FleetSeries series;
  ASSERT_TRUE(support::poll_until([&] {
    auto answer = probe.ask_prometheus();
    if (answer) series = *std::move(answer);
    return series.heartbeat_fires && series.nodes["gpu-01"].has_alert;
  }));

  EXPECT_TRUE(series.nodes["gpu-01"].is_up);
  EXPECT_EQ(series.nodes["gpu-01"].severity, Severity::kReboot);
  EXPECT_FALSE(series.nodes["gpu-01"].lacks_series);
  EXPECT_TRUE(series.nodes["gpu-02"].has_target);
  EXPECT_FALSE(series.nodes["gpu-02"].is_up);
  EXPECT_FALSE(series.nodes["gpu-02"].lacks_series);
  EXPECT_TRUE(series.nodes["gpu-03"].lacks_series);
  EXPECT_EQ(series.unnamed, 1U);
  EXPECT_EQ(series.other_jobs, 1U);
  EXPECT_TRUE(series.reads_remediator);
  EXPECT_EQ(probe.ask_for_alertmanagers(), 0U);
}

GPUWARD_ON_DEBIANS_AND_NEWER(SourcesOfARealPrometheus);

}  // namespace
}  // namespace gpuward::remediator
