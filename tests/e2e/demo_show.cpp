#include "tests/e2e/demo_show.h"

#include <array>
#include <cstdio>
#include <iostream>
#include <string_view>

#include "core/runtime/clock.h"
#include "tests/e2e/part_config.h"
#include "tests/e2e/passage.h"
#include "tests/e2e/scenario.h"
#include "tests/e2e/watch.h"
#include "tests/places.inc"
#include "tests/support/temp_dir.h"

namespace gpuward::e2e {
namespace {

using std::chrono::milliseconds;

constexpr const char* kSickNode = "gpu-node-1";
constexpr const char* kWellNode = "gpu-node-2";

std::string in_seconds(milliseconds duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(duration.count()) / 1000);
  return text.data();
}

void say(const std::string& line) { std::cout << line << std::endl; }

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

class Show {
 public:
  explicit Show(const std::stop_token& stop) : stop_(stop) {}

  [[nodiscard]] Status start() {
    const auto begin = clock_.steady();
    say("Starting on loopback: a fake Kubernetes API with two nodes, a gpuward-exporter for each,\n"
        "Prometheus, Alertmanager, and gpuward-remediator in mode cordon ...");
    if (auto status = start_cluster(); !status) return status;
    StackOptions options;
    options.cluster = cluster_.get();
    options.folder = folder_.path();
    const auto kubeconfig = cluster_->kubeconfig();
    options.nodes = {{.name = kSickNode, .log = &*sick_log_, .kubeconfig = kubeconfig},
                     {.name = kWellNode, .log = &*well_log_, .kubeconfig = kubeconfig}};
    options.stop = stop_;
    auto stack = Stack::start(options);
    if (!stack) return std::unexpected(stack.error());
    stack_ = *std::move(stack);
    const auto took = std::chrono::duration_cast<milliseconds>(clock_.steady() - begin);
    say("ready after " + in_seconds(took) + "\n");
    return {};
  }

  [[nodiscard]] Status deliver() const {
    say("since line");
    auto passage = follow_fault(*stack_, *cluster_, {kSickNode, &*sick_log_},
                                [&](Step step, milliseconds since) { tell_step(step, since); });
    if (!passage) return std::unexpected(passage.error());
    tell_nodes();
    return tell_time(*passage);
  }

  void point_out() const {
    const std::string kubectl = "kubectl --kubeconfig=" + cluster_->kubeconfig().string();
    say("Look around, everything runs on:\n"
        "  fleet           " +
        stack_->telemetry_url() +
        "/\n"
        "  unhealthy node  " +
        stack_->exporter_url(kSickNode) +
        "/\n"
        "  Prometheus      " +
        stack_->prometheus_url() +
        "/classic/alerts\n"  // Debian's has no other page of alerts
        "  Alertmanager    " +
        stack_->alertmanager_url() +
        "/api/v2/alerts\n"  // Debian's has no page
        "  Kubernetes API  " +
        cluster_->url() +
        "/api/v1/nodes\n"
        "  with kubectl    " +
        kubectl +
        " get nodes,remediations\n"
        "                  " +
        kubectl + " describe node " + kSickNode +
        "\n"
        "Ask gpuward itself (`--help` has the rest):\n"
        "  export KUBECONFIG=" +
        cluster_->kubeconfig().string() +
        "\n"
        "  " +
        std::string(GPUWARD_BIN_DIR) + "/gpuwardctl status\n  " + GPUWARD_BIN_DIR +
        "/gpuwardctl explain " + kSickNode +
        "\n"
        "Break the other node too: it is tainted, and waits for the cordon, of which the budget "
        "allows one\n"
        "  echo \"" +
        kFallenOffTheBus + "\" > " + well_log_->path().string());
  }

  void wait_for_stop() {
    say("\nCtrl-C ends it all.");
    while (clock_.sleep_for(std::chrono::hours(1), stop_)) {
    }
  }

  // Returns whether every part ended without an error.
  [[nodiscard]] bool end() {
    if (!stack_) return true;
    const auto begin = clock_.steady();
    const auto unclean = stack_->stop();
    for (const std::string& part : unclean) say("did not end well: " + part);
    const auto took = std::chrono::duration_cast<milliseconds>(clock_.steady() - begin);
    say("\nEverything stopped within " + in_seconds(took) + ".");
    return unclean.empty();
  }

 private:
  [[nodiscard]] Status start_cluster() {
    auto cluster = start_fake_cluster(folder_.path());
    if (!cluster) return std::unexpected(cluster.error());
    cluster_ = *std::move(cluster);
    auto sick = KernelLog::fifo(folder_ / "kernel-log-1");
    if (!sick) return std::unexpected(sick.error());
    auto well = KernelLog::fifo(folder_ / "kernel-log-2");
    if (!well) return std::unexpected(well.error());
    sick_log_.emplace(*std::move(sick));
    well_log_.emplace(*std::move(well));
    if (auto status = cluster_->add_gpu_node(kSickNode); !status) return status;
    return cluster_->add_gpu_node(kWellNode);
  }

  void tell_step(Step step, milliseconds since) const {
    say(padded("  " + in_seconds(since), 10) + describe(step));
  }

  [[nodiscard]] std::string describe(Step step) const {
    const std::string node = kSickNode;
    switch (step) {
      case Step::kWritten:
        return std::string("fault        ") + kFallenOffTheBus;
      case Step::kMetric:
        return "metric       the exporter of " + node + " counts Xid 79 on GPU 3: severity reboot";
      case Step::kAlert:
        return "alert        Prometheus fires GpuNodeNeedsReboot for " + node;
      case Step::kRemediation:
        return "remediation  the remediator opens " + remediation_name();
      case Step::kCordon:
        return "cordon       " + node + " is tainted and cordoned: no new work lands on it";
    }
    return {};
  }

  [[nodiscard]] std::string remediation_name() const {
    const auto all = Watch(*stack_, *cluster_).remediations_of(kSickNode);
    return all.empty() ? "a Remediation" : "Remediation " + all.front().name;
  }

  void tell_nodes() const {
    say("\n  " + padded("NAME", 14) + padded("STATUS", 28) + "TAINT");
    for (const char* name : {kSickNode, kWellNode}) {
      const auto node = Watch(*stack_, *cluster_).node(name).value_or(NodeView{});
      const std::string status = node.cordoned ? "Ready,SchedulingDisabled" : "Ready";
      const std::string taint =
          node.taint.empty() ? "<none>" : "gpuward.dev/remediation=" + node.taint;
      say("  " + padded(name, 14) + padded(status, 28) + taint);
    }
  }

  [[nodiscard]] static Status tell_time(const Passage& passage) {
    const auto intervals = configured_intervals();
    if (!intervals) return std::unexpected(intervals.error());
    say("\nFrom the line to the cordoned node: " + in_seconds(passage.cordon) +
        ". The configured intervals allow " + in_seconds(intervals->sum()) + " (scrape " +
        in_seconds(intervals->scrape) + ", evaluation " + in_seconds(intervals->evaluation) +
        ", for " + in_seconds(intervals->wait) + ", group_wait " +
        in_seconds(intervals->group_wait) + ").\n");
    return {};
  }

  std::stop_token stop_;
  SystemClock clock_;
  support::TempDir folder_;
  std::optional<KernelLog> sick_log_, well_log_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Stack> stack_;
};

}  // namespace

int run_demo(bool stays, const std::stop_token& stop) {
  if (const std::string why = why_no_stack(); !why.empty()) {
    std::cerr << "gpuward-demo: " << why << "\n";
    return 1;
  }
  Show show(stop);
  Status status = show.start();
  if (status) status = show.deliver();
  if (status) show.point_out();
  if (status && stays) show.wait_for_stop();
  const bool ended_well = show.end();
  if (status) return ended_well ? 0 : 1;
  if (status.error().kind == ErrorKind::kCancelled) return 0;
  std::cerr << "gpuward-demo: " << status.error().message << "\n";
  return 1;
}

}  // namespace gpuward::e2e
