#include "tests/unit/exporter/machines/judged_machine.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <utility>

#include "exporter/gpu/nvidia/nvml_library.h"
#include "exporter/host/instance_type.h"
#include "exporter/host/machine.h"
#include "exporter/publish/node/node_wish.h"
#include "exporter/watch/gpu_watcher.h"
#include "exporter/watch/host_watcher.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

using std::chrono::minutes;

// Reads the library in this process; the program has a worker process for that.
class LibrarySource final : public GpuSource {
 public:
  LibrarySource(GpuLibrary& library, Clock& clock) : clock_(clock) {
    auto report = std::make_shared<GpuReport>();
    report->vendors.push_back(library.read([](std::string_view) {}));
    telemetry_.state = WorkerState::kAnswering;
    telemetry_.report = std::move(report);
    telemetry_.read_at = clock.wall();
  }

  bool wait(std::chrono::milliseconds limit, const std::stop_token& stop) override {
    clock_.sleep_for(limit, stop);
    return false;
  }
  [[nodiscard]] GpuTelemetry telemetry() const override { return telemetry_; }
  [[nodiscard]] std::vector<GpuXid> take_xids() override { return {}; }
  void hurry() override {}
  void set_released(bool /*is_released*/) override {}
  [[nodiscard]] bool has_let_go() const override { return false; }
  [[nodiscard]] std::string describe() const override { return "read once"; }

 private:
  Clock& clock_;
  GpuTelemetry telemetry_;
};

// Checks run no program of the machine that the test runs on.
Settings settings_for(const HostPaths& host) {
  Settings settings;
  settings.checks.is_dcgm_l2_enabled = false;
  settings.checks.tool_dirs = {host.dev / "tools"};
  settings.checks.gdrcopy_dir = host.dev / "gdrcopy";
  return settings;
}

}  // namespace

bool Model::has_profile() const {
  const auto known = InstanceProfiles::built_in();
  return known.find(type).has_value() || known.find_machine(product).has_value();
}

JudgedMachine::JudgedMachine(const Model& model)
    : model_(model),
      driver_("healthy_8x_h100"),
      policy_(settings_for(host.paths())),
      gpu_check_(host.paths(), policy_, clock_),
      library_(make_nvml_library({.nvml = fake_nvml::FakeNvml::library()})) {
  describe_to_driver();
  build_host();
  // The machine has booted, and its driver was loaded, an hour ago.
  clock_.jump_wall(SystemClock().wall() + std::chrono::hours(1) - clock_.wall());
  store_.enter_boot("boot-1", clock_.wall());
  store_.enter_machine(read_machine(host.paths()));
  RunnerOptions options;
  options.node_name = "gpu-node-1";
  options.host = host.paths();
  options.settings = [this]() -> std::shared_ptr<const CheckSettings> {
    const auto current = policy_.get();
    return {current, &current->settings.checks};
  };
  checks_ = std::make_unique<CheckRunner>(std::move(options), store_, clock_, log_);
}

void JudgedMachine::describe_to_driver() {
  driver_says("count", std::to_string(model_.gpus));
  each_gpu_says("name", model_.gpu);
  each_gpu_says("architecture", std::to_string(model_.architecture));
  for (unsigned gpu = 0; gpu < model_.gpus; ++gpu)
    driver_says("gpu." + std::to_string(gpu) + ".pci", support::HostTree::nvidia_address(gpu));
  each_gpu_says("nvlink.count", model_.links > 0 ? std::to_string(model_.links) : "!3");
  each_gpu_says("nvlink.*.remote", "FFFFFFFF:FF:FF.0");
  for (unsigned gpu = 0; model_.has_bridge && gpu < model_.gpus; ++gpu)
    driver_says("gpu." + std::to_string(gpu) + ".nvlink.*.remote",
                support::HostTree::nvidia_address(model_.gpus - 1 - gpu));
  if (model_.links == 0) driver_says("p2p.*.nvlink", "5");
  if (!model_.has_fabric) each_gpu_says("fabric.state", "0");
  if (!model_.has_rows()) driver_says("unset", "gpu.*.rows");
  if (model_.has_ecc && !model_.has_rows()) {
    for (const char* key : {"single_bit", "double_bit", "pending"})
      each_gpu_says("retired." + std::string(key), "0");
  }
  if (model_.has_ecc) return;
  each_gpu_says("ecc.mode", "0");
  each_gpu_says("ecc.pending", "0");
  each_gpu_says("ecc.default", "0");
}

void JudgedMachine::build_host() {
  host.write("sys/class/dmi/id/product_uuid", "4c4c4544-0057-3410-8053-c4c04f465433\n");
  host.write("sys/class/dmi/id/product_name", model_.product + "\n");
  host.with_nvidia_gpus(model_.gpus).with_nvswitches(model_.nvswitches);
  host.with_nvswitch_managers(model_.nvswitch_managers);
  host.with_process(800, "containerd").with_memory_lock(800, "unlimited");
  if (model_.efa_devices > 0) host.with_efa(model_.efa_devices);
  const auto fi_info = host.paths().dev / "tools/fi_info";
  host.write("dev/tools/fi_info", "#!/bin/sh\necho provider: efa\n");
  std::filesystem::permissions(fi_info, std::filesystem::perms::owner_all);
  if (model_.nvswitches + model_.nvswitch_managers > 0) host.with_process(900, "nv-fabricmanager");
}

std::string JudgedMachine::victim_address() const {
  return support::HostTree::nvidia_address(model_.gpus - 1);
}

void JudgedMachine::victim_says(std::string_view key, std::string_view value) {
  driver_says("gpu." + std::to_string(model_.gpus - 1) + "." + std::string(key), value);
}

void JudgedMachine::each_gpu_says(std::string_view key, std::string_view value) {
  driver_says("gpu.*." + std::string(key), value);
}

void JudgedMachine::driver_loses_victim() {
  constexpr std::string_view kGpuIsLost = "15";
  driver_says("fault.*." + std::to_string(model_.gpus - 1), kGpuIsLost);
}

void JudgedMachine::look() {
  store_.update_health([](Health& health) { health.kernel_log_fault.reset(); });
  read_host();
  read_driver();
  run_checks();
  // The findings that checks 0 to 3 report have changed since the first reading.
  read_driver();
}

void JudgedMachine::read_driver() {
  const GpuWatcher watcher(std::make_unique<LibrarySource>(*library_, clock_), store_, policy_,
                           clock_, log_,
                           [this](const Snapshot& snapshot) { return gpu_check_.run(snapshot); });
}

void JudgedMachine::read_host() {
  const auto ask = [this](const std::string&) {
    const auto source = InstanceTypeSource::kMetadataV2;
    return named_by_firmware({model_.type, source, {}}, read_machine(host.paths()),
                             policy_.get()->settings.checks.profiles);
  };
  const HostWatcher watcher(host.paths(), ask, store_, policy_, clock_, log_);
  EXPECT_TRUE(support::wait_until([&] { return clock_.sleepers() > 0; }, "a look at the host"));
}

void JudgedMachine::run_checks() {
  clock_.advance(policy_.get()->settings.checks.check_interval);
  const auto have_ended = [&] {
    checks_->tick();
    return checks_->running() == 0;
  };
  checks_->tick();
  EXPECT_TRUE(support::wait_until(have_ended, "the end of the checks"));
}

std::string JudgedMachine::verdict() const {
  const Snapshot snapshot = store_.snapshot();
  std::set<std::string> found;
  for (const auto& [key, finding] : snapshot.state.findings)
    found.insert("`" + finding.code + "` (" + std::string(to_string(finding.severity)) + ")");
  std::string text(to_string(wish_of(snapshot).status));
  const char* separator = ": ";
  for (const std::string& one : found) {
    text += std::exchange(separator, ", ") + one;
  }
  return text;
}

}  // namespace gpuward::exporter
