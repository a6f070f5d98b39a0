// Every query of every panel, asked of a real Prometheus that watches the whole road while a GPU
// falls off the bus of one of its nodes: it has an answer, or stands below with the reason why not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/dashboards/panels.h"
#include "tests/e2e/fake_cluster.h"
#include "tests/e2e/passage.h"
#include "tests/e2e/watch.h"
#include "tests/places.inc"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::dashboards {
namespace {

using std::chrono::seconds;

constexpr const char* kFullNode = "gpu-node-1";    // eight boards of the fake NVML, which say all
constexpr const char* kBrokenNode = "gpu-node-2";  // whose simulated GPU falls off the bus

// Panels that are rightly empty here. What they ask for is a metric of docs/metrics.md.
const std::map<std::string, std::string> kEmptyHere = {
    {"Workloads whose programs fail", "no kubelet says who uses the GPUs"},
    {"Who uses the GPUs", "no kubelet says who uses the GPUs"},
    {"EFA drops", "no EFA device"},
    {"Exclusions", "nobody is excluded"},
    {"Lag of the sources", "no Loki, the one source with a lag"},
};

class WatchedFleet {
 public:
  [[nodiscard]] Status start() {
    auto cluster = e2e::start_fake_cluster(folder_.path());
    if (!cluster) return std::unexpected(cluster.error());
    cluster_ = *std::move(cluster);
    e2e::StackOptions options;
    for (const char* name : {kFullNode, kBrokenNode}) {
      if (auto status = cluster_->add_gpu_node(name); !status) return status;
      auto log = e2e::KernelLog::fifo(folder_ / ("kernel-log-of-" + std::string(name)));
      if (!log) return std::unexpected(log.error());
      options.nodes.push_back({name, &logs_.emplace(name, *std::move(log)).first->second});
    }
    options.nodes[0].flags = flags_with_nvml();
    options.nodes[0].environment = {{"GPUWARD_FAKE_NVML", GPUWARD_SOURCE_DIR
                                     "/tests/testdata/invented/nvml/healthy_8x_h100.conf"}};
    options.cluster = cluster_.get();
    options.folder = folder_.path();
    options.environment = {{"WEBHOOK_URL", "http://127.0.0.1:9/"}};
    auto stack = e2e::Stack::start(options);
    if (!stack) return std::unexpected(stack.error());
    stack_ = *std::move(stack);
    return break_things();
  }
  [[nodiscard]] e2e::Watch watch() const { return {*stack_, *cluster_}; }
  [[nodiscard]] std::string logs() const { return stack_ ? stack_->logs() : ""; }

 private:
  [[nodiscard]] std::vector<std::string> flags_with_nvml() const {
    const auto config =
        folder_.write("exporter.yaml",
                      "instance: {type: some.8x, profiles: [{type: some.8x, gpus: 8, efa: 0}]}\n");
    return {"--gpu.nvml-library=" GPUWARD_BIN_DIR "/../lib/fakes/libnvidia-ml.so.1",
            "--gpu.amd-smi-library=/nowhere/libamd_smi.so", "--path.sysfs=/nowhere",
            "--config.file=" + config.string()};
  }
  [[nodiscard]] Status break_things() {
    for (const char* line : {"nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20009, Non-fatal, Link 32 "
                             "RX Short Error Rate",
                             "NVRM: GPU 0000:1a:00.0: RmInitAdapter failed! (0x22:0x56:894)"}) {
      if (auto status = logs_.at(kFullNode).write(line); !status) return status;
    }
    const auto passage =
        e2e::follow_fault(*stack_, *cluster_, {kBrokenNode, &logs_.at(kBrokenNode)});
    if (!passage) return std::unexpected(passage.error());
    return {};
  }
  support::TempDir folder_;
  std::map<std::string, e2e::KernelLog> logs_;
  std::unique_ptr<e2e::Cluster> cluster_;
  std::unique_ptr<e2e::Stack> stack_;
};

TEST(DashboardQueries, HaveAnAnswer) {
  GPUWARD_REQUIRE(e2e::why_no_stack());
  WatchedFleet fleet;
  const Status started = fleet.start();
  ASSERT_TRUE(started) << started.error().message << fleet.logs();
  std::vector<Query> wanted;
  std::size_t exceptions = 0;
  for (const Dashboard& dashboard : load_dashboards()) {
    for (const Query& query : queries_of(dashboard)) {
      if (kEmptyHere.contains(query.panel)) {
        ++exceptions;
      } else {
        wanted.push_back(query);
      }
    }
    for (const Query& query : annotations_of(dashboard)) wanted.push_back(query);
  }
  EXPECT_EQ(exceptions, kEmptyHere.size());
  EXPECT_GT(wanted.size(), 70U);
  // Growth needs two samples, and recording rules a minute.
  (void)support::poll_until(
      [&] {
        std::erase_if(wanted, [&](const Query& query) {
          return fleet.watch().query("count(" + with_variables(query.expr) + ")").has_value();
        });
        return wanted.empty();
      },
      seconds(90));
  for (const Query& query : wanted) {
    ADD_FAILURE() << query.dashboard << ", " << query.panel << ": " << query.expr;
  }
}

}  // namespace
}  // namespace gpuward::dashboards
