// Checks, the machine, pods, RDMA devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/metrics/text_format.h"
#include "exporter/publish/families.h"
#include "tests/unit/exporter/publish/filled_snapshot.h"

namespace gpuward::exporter {
namespace {

using testing::HasSubstr;
using testing::Not;

class NodeFamiliesTest : public testing::Test {
 protected:
  std::string text(const MetricsOptions& options = {}) {
    return metrics::to_text(exporter_families(snapshot, xid::Catalogue(), options));
  }

  Snapshot snapshot = filled_snapshot(2);
};

Finding reset_found_by(const std::string& check) {
  Finding finding;
  finding.check = check;
  finding.severity = Severity::kReset;
  return finding;
}

TEST_F(NodeFamiliesTest, TellTheStatusOfEachCheckOneHot) {
  snapshot.state.findings[{"2-efa", {}, {}, Evidence::kMeasured}] = reset_found_by("2-efa");
  const std::string out = text();

  for (const char* other : {"pass", "warn", "skip", "error"}) {
    EXPECT_THAT(out, HasSubstr("gpuward_check_status{check=\"2-efa\",status=\"" +
                               std::string(other) + "\"} 0\n"));
  }
  EXPECT_THAT(out, HasSubstr("gpuward_check_status{check=\"2-efa\",status=\"fail\"} 1\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_check_severity{check=\"2-efa\"} 2\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_check_duration_seconds{check=\"0-nvidia-smi\"} 1.5\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_check_last_run_timestamp_seconds{check=\"0-nvidia-smi\"} "
                             "1795000007\n"));
}

// The annotation of the node does the same (VerdictOf).
TEST_F(NodeFamiliesTest, TellTheStatusOfACheckByTheFindingsSinceItsRun) {
  snapshot.state.checks.at("0-nvidia-smi").status = CheckStatus::kPass;
  snapshot.state.findings.clear();
  EXPECT_THAT(text(),
              HasSubstr("gpuward_check_status{check=\"0-nvidia-smi\",status=\"pass\"} 1\n"));

  snapshot.state.findings[{"xid", {}, {}, Evidence::kKernel}] = reset_found_by("xid");
  EXPECT_THAT(text(),
              HasSubstr("gpuward_check_status{check=\"0-nvidia-smi\",status=\"fail\"} 1\n"));
}

TEST_F(NodeFamiliesTest, SayAloudThatNobodyKnowsWhatThisMachineMustHave) {
  snapshot.instance = {.type = "p9.metal", .source = "imds"};

  const std::string out = text();

  EXPECT_THAT(out, HasSubstr("gpuward_instance_profile_known 0\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_instance_info{instance_type=\"p9.metal\",source=\"imds\"} "
                             "1\n"));
  EXPECT_THAT(out, Not(HasSubstr("gpuward_gpus_expected")));
}

TEST_F(NodeFamiliesTest, ExpectWhatTheMachineHasHadOrItsLabelsSayIfNoProfileIs) {
  snapshot.instance = {.type = "p9.metal", .source = "imdsv2"};
  snapshot.state.machine.most = {{Vendor::kNvidia, 7}};
  snapshot.state.machine.labelled = {{Vendor::kNvidia, 8}};
  EXPECT_THAT(text(), HasSubstr("gpuward_gpus_expected 8\n"));
  EXPECT_THAT(text(), HasSubstr("gpuward_instance_profile_known 0\n"));
  snapshot.state.machine.labelled.clear();
  EXPECT_THAT(text(), HasSubstr("gpuward_gpus_expected 7\n"));
}

TEST_F(NodeFamiliesTest, CountGpusByDriverPciAndProfile) {
  const std::string out = text();

  EXPECT_THAT(out, HasSubstr("gpuward_gpus_counted_by_driver{vendor=\"nvidia\"} 2\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_gpus_counted_on_pci 8\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_gpus_expected 8\n"));
}

TEST_F(NodeFamiliesTest, NameThePodOnTheSeverityOfItsGpu) {
  EXPECT_THAT(text(), HasSubstr("gpuward_gpu_severity{gpu=\"0\",uuid=\"GPU-0\",pci_bus_id=\"0000:"
                                "40:00\",namespace=\"team-a\",pod=\"train-0\"} 3\n"));
  EXPECT_THAT(text(), HasSubstr("gpuward_gpu_pod_info{gpu=\"0\",uuid=\"GPU-0\",pci_bus_id=\"0000:"
                                "40:00\",namespace=\"team-a\",pod=\"train-0\",container="
                                "\"worker\"} 1\n"));
}

TEST_F(NodeFamiliesTest, NameAFewOfManyPodsOnly) {
  std::vector<Workload> many;
  for (int i = 0; i < 30; ++i) many.push_back({"ns", "pod-" + std::to_string(10 + i), "c"});
  snapshot.workloads.by_device["GPU-0"] = many;

  const std::string out = text();

  EXPECT_THAT(out, HasSubstr("namespace=\"ns\",pod=\"pod-10,pod-11,pod-12,pod-13,…\"} 3\n"));
  EXPECT_THAT(out, Not(HasSubstr("pod=\"pod-18\"")));
}

TEST_F(NodeFamiliesTest, SayThatNobodyKnowsThePods) {
  snapshot.workloads = {};

  const std::string out = text();

  EXPECT_THAT(out, HasSubstr("gpuward_pod_resources_up 0\n"));
  EXPECT_THAT(out, HasSubstr("pci_bus_id=\"0000:40:00\",namespace=\"\",pod=\"\"} 3\n"));
  EXPECT_THAT(out, Not(HasSubstr("gpuward_gpu_pod_info")));
}

TEST_F(NodeFamiliesTest, CountWhatEfaDevicesCount) {
  const std::string out = text();

  EXPECT_THAT(out, HasSubstr("gpuward_efa_rx_drops_total{device=\"rdmap86s0\",port=\"1\"} 5\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_efa_alloc_pd_err_total{device=\"rdmap86s0\",port=\"\"} 0\n"));
  EXPECT_THAT(out, Not(HasSubstr("lifespan"))) << "a setting, not a counter";
  EXPECT_THAT(out, HasSubstr("gpuward_rdma_hw_counters_total{device=\"mlx5_0\",port=\"1\",counter="
                             "\"rx_drops\"} 5\n"));
  EXPECT_THAT(out, Not(HasSubstr("node_amazonefa")));
}

TEST_F(NodeFamiliesTest, TellThePortsOfOtherRdmaDevices) {
  const std::string out = text();

  EXPECT_THAT(out, HasSubstr("gpuward_rdma_port_state{device=\"mlx5_0\",port=\"1\"} 4\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_rdma_port_physical_state{device=\"mlx5_0\",port=\"1\"} 5\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_rdma_port_rate_bytes_per_second{device=\"mlx5_0\",port="
                             "\"1\"} 50000000000\n"));
}

TEST_F(NodeFamiliesTest, SayWhetherTheNodeCanBeWritten) {
  EXPECT_THAT(text(), HasSubstr("gpuward_node_publishing_up 1\n"));
  EXPECT_THAT(text(), HasSubstr("gpuward_node_publishing_failures_total 2\n"));

  snapshot.health.node.reset();

  EXPECT_THAT(text(), Not(HasSubstr("gpuward_node_publishing"))) << "nobody writes";
}

TEST_F(NodeFamiliesTest, SayWhetherLokiTakesTheKernelsLines) {
  EXPECT_THAT(text(), HasSubstr("gpuward_loki_push_up 1\n"));
  EXPECT_THAT(text(), HasSubstr("gpuward_loki_push_lines_total{result=\"sent\"} 7\n"));
  EXPECT_THAT(text(), HasSubstr("gpuward_loki_push_lines_total{result=\"lost\"} 1\n"));

  snapshot.health.loki->fault = "HTTP 503";
  EXPECT_THAT(text(), HasSubstr("gpuward_loki_push_up 0\n"));

  snapshot.health.loki.reset();
  EXPECT_THAT(text(), Not(HasSubstr("gpuward_loki_push"))) << "nobody sends";
}

TEST_F(NodeFamiliesTest, UseTheNamesOfTheEfaNodeExporterOnRequest) {
  const std::string out = text({.efa_compat = true});

  EXPECT_THAT(out, HasSubstr("node_amazonefa_rx_drops{device=\"rdmap86s0\",port=\"1\"} 5\n"));
  EXPECT_THAT(out, HasSubstr("node_amazonefa_lifespan{device=\"rdmap86s0\",port=\"1\"} 12\n"));
  EXPECT_THAT(out, HasSubstr("node_amazonefa_info{device=\"rdmap86s0\"} 1\n"));
}

TEST_F(NodeFamiliesTest, TakeNoNameFromSysfsThatIsNoMetricName) {
  snapshot.rdma[0].counters["1"]["evil} 1\nx"] = 1;

  EXPECT_THAT(text({.efa_compat = true}), Not(HasSubstr("evil")));
}

}  // namespace
}  // namespace gpuward::exporter
