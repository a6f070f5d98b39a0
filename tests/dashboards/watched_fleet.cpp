#include "tests/dashboards/watched_fleet.h"

#include "tests/e2e/passage.h"
#include "tests/places.inc"

namespace gpuward::dashboards {
namespace {

constexpr const char* kFullNode = "gpu-node-1";
constexpr const char* kBrokenNode = "gpu-node-2";

}  // namespace

Status WatchedFleet::start(const std::vector<std::string>& healthy_nodes) {
  auto cluster = e2e::start_fake_cluster(folder_.path());
  if (!cluster) return std::unexpected(cluster.error());
  cluster_ = *std::move(cluster);
  e2e::StackOptions options;
  std::vector<std::string> names = {kFullNode, kBrokenNode};
  names.insert(names.end(), healthy_nodes.begin(), healthy_nodes.end());
  for (const std::string& name : names) {
    if (auto status = cluster_->add_gpu_node(name); !status) return status;
    auto log = e2e::KernelLog::fifo(folder_ / ("kernel-log-of-" + name));
    if (!log) return std::unexpected(log.error());
    const auto* kept = &logs_.emplace(name, *std::move(log)).first->second;
    options.nodes.push_back(name == kFullNode ? node_with_nvml() : e2e::StackNode{.name = name});
    options.nodes.back().log = kept;
  }
  options.cluster = cluster_.get();
  options.folder = folder_.path();
  options.environment = {{"WEBHOOK_URL", "http://127.0.0.1:9/"}};
  auto stack = e2e::Stack::start(options);
  if (!stack) return std::unexpected(stack.error());
  stack_ = *std::move(stack);
  return {};
}

e2e::StackNode WatchedFleet::node_with_nvml() const {
  const auto config = folder_.write(
      "exporter.yaml", "instance: {type: some.8x, profiles: [{type: some.8x, gpus: 8, efa: 0}]}\n");
  return {.name = kFullNode,
          .flags = {"--gpu.nvml-library=" GPUWARD_BIN_DIR "/../lib/fakes/libnvidia-ml.so.1",
                    "--gpu.amd-smi-library=/nowhere/libamd_smi.so", "--path.sysfs=/nowhere",
                    "--config.file=" + config.string()},
          .environment = {{"GPUWARD_FAKE_NVML", GPUWARD_SOURCE_DIR
                           "/tests/testdata/invented/nvml/healthy_8x_h100.conf"}}};
}

Status WatchedFleet::log_line(const std::string& node, const std::string& line) {
  return logs_.at(node).write(line);
}

Status WatchedFleet::break_things() {
  for (const char* line : {"nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20009, Non-fatal, Link 32 "
                           "RX Short Error Rate",
                           "NVRM: GPU 0000:1a:00.0: RmInitAdapter failed! (0x22:0x56:894)"}) {
    if (auto status = log_line(kFullNode, line); !status) return status;
  }
  const auto passage =
      e2e::follow_fault(*stack_, *cluster_, {.name = kBrokenNode, .log = &logs_.at(kBrokenNode)});
  if (!passage) return std::unexpected(passage.error());
  return {};
}

}  // namespace gpuward::dashboards
