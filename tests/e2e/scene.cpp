#include "tests/e2e/scene.h"

#include <iostream>

#include "tests/e2e/scenario.h"
#include "tests/support/control_plane.h"
#include "tests/support/require.h"

namespace gpuward::e2e {

std::string Scene::why_impossible(const std::string& neighbours) {
  if (auto why = support::ControlPlane::why_unavailable(); !why.empty()) return why;
  if (auto why = support::why_no_program("kubectl"); !why.empty()) return why;
  return why_no_stack(neighbours);
}

Result<std::unique_ptr<Scene>> Scene::set(const std::string& neighbours) {
  std::unique_ptr<Scene> scene(new Scene);
  if (auto status = scene->build(neighbours); !status) return std::unexpected(status.error());
  return scene;
}

std::string Scene::kubectl(std::vector<std::string> arguments) const {
  std::vector<std::string> argv{"kubectl", "--kubeconfig=" + cluster_->kubeconfig().string(),
                                "--cache-dir=" + (folder_ / "kubectl").string()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const auto outcome = support::Process::run({.argv = std::move(argv)});
  return outcome ? outcome->output + outcome->error_output : outcome.error().message;
}

std::string Scene::node_version(const std::string& node) const {
  return watch().node(node).value_or(NodeView{}).resource_version;
}

Status Scene::build(const std::string& neighbours) {
  auto cluster = start_real_cluster();
  if (!cluster) return std::unexpected(cluster.error());
  cluster_ = *std::move(cluster);
  if (auto status = open_logs(); !status) return status;
  if (auto status = start_stack(neighbours); !status) return status;
  return let_it_happen();
}

Status Scene::open_logs() {
  auto device = KernelLog::device_or_fifo(folder_ / "kmsg-broken");
  if (!device) return std::unexpected(device.error());
  std::cout << "kernel log: " << device->path().string()
            << (device->is_device()
                    ? " (the machine's own)\n"
                    : " (a FIFO: /dev/kmsg cannot be written here, or another run does)\n");
  logs_.emplace(kBroken, *std::move(device));
  for (const char* name : {kHarmless, kSilent}) {
    auto fifo = KernelLog::fifo(folder_ / (std::string("kmsg-") + name));
    if (!fifo) return std::unexpected(fifo.error());
    logs_.emplace(name, *std::move(fifo));
  }
  return {};
}

Status Scene::start_stack(const std::string& neighbours) {
  StackOptions options;
  options.cluster = cluster_.get();
  options.folder = folder_.path();
  options.neighbours = neighbours;
  options.alertmanagers = 2;
  for (const auto& [name, log] : logs_) {
    if (auto status = cluster_->add_gpu_node(name); !status) return status;
    options.nodes.push_back({name, &log});
  }
  auto stack = Stack::start(options);
  if (!stack) return std::unexpected(stack.error());
  stack_ = *std::move(stack);
  for (const auto& [name, log] : logs_) before_[name] = watch().node(name).value_or(NodeView{});
  return {};
}

// Starts the slow events first, so that they progress while the test follows the fast one.
Status Scene::let_it_happen() {
  if (auto status = logs_.at(kHarmless).write(kApplicationFault); !status) return status;
  if (auto status = stack_->stop_exporter(kSilent); !status) return status;
  auto followed = follow_fault(*stack_, *cluster_, {kBroken, &logs_.at(kBroken)});
  if (!followed) return with_context("following the fault; " + stack_->logs(), followed.error());
  passage_ = *followed;
  return {};
}

}  // namespace gpuward::e2e
