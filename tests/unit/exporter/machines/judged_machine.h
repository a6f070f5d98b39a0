// A machine with NVIDIA's GPUs, judged by the exporter's parts, put together as in the program: the
// watchers of GPUs and host, the store, the checks that run by themselves, and the wish of the node
// publisher. The driver is the fake NVML; PCI bus and processes are files. Used by
// machines_test.cpp, whose faults change driver and files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "exporter/checks/runner.h"
#include "exporter/config/settings.h"
#include "exporter/gpu/report/library.h"
#include "exporter/store/store.h"
#include "exporter/watch/gpu_check.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/nvml/fake_nvml.h"
#include "tests/support/host_tree.h"

namespace gpuward::exporter {

// NVML's numbers.
inline constexpr unsigned kTuring = 6, kAmpere = 7, kAda = 8, kHopper = 9, kBlackwell = 10;

// A machine as NVML, the PCI bus and the cloud describe it. Blackwell's NVSwitches are not on the
// PCI bus of the node; those of older boards are. Devices that manage them are on the bus of HGX
// boards (four of a DGX B200: github.com/siderolabs/extensions pull 895), not of GB200 and GB300.
struct Model {
  std::string name;  // in the tables of docs/checks.md
  std::string gpu;   // NVML's name for it
  unsigned architecture = 0;
  unsigned gpus = 0;
  unsigned links = 0;  // NVLinks of a GPU
  unsigned nvswitches = 0;
  unsigned nvswitch_managers = 0;
  unsigned efa_devices = 0;
  std::string type = {};  // of the instance; empty: only the firmware's product name is known
  std::string product = "Standard PC";
  bool has_fabric = false;
  bool has_bridge = false;  // the links join two cards
  bool has_ecc = true;      // off on boards for workstations

  // A machine without a profile is judged by the devices that it has had.
  [[nodiscard]] bool has_profile() const;
  // Turing retires pages; later boards replace rows.
  [[nodiscard]] bool has_rows() const { return has_ecc && architecture > kTuring; }
  // Each GPU reaches every other one over NVLink.
  [[nodiscard]] bool has_nvlink_board() const { return links > 0 && !has_bridge; }
};

class JudgedMachine {
 public:
  explicit JudgedMachine(const Model& model);

  // Reads driver and host once, and runs the due checks to their end.
  void look();
  // Returns the status of the Node's label and the findings, as in "warn: `nvlink_inactive`
  // (monitor)".
  [[nodiscard]] std::string verdict() const;

  [[nodiscard]] const Model& model() const { return model_; }
  // The parts that a fault changes. The GPU that breaks is the last one.
  support::HostTree host;
  [[nodiscard]] std::string victim_address() const;
  void victim_says(std::string_view key, std::string_view value);
  void each_gpu_says(std::string_view key, std::string_view value);
  void driver_says(std::string_view key, std::string_view value) { driver_.set(key, value); }
  void driver_loses_victim();

 private:
  void describe_to_driver();
  void build_host();
  void read_driver();
  void read_host();
  void run_checks();

  Model model_;
  fake_nvml::FakeNvml driver_;
  fakes::FakeClock clock_;
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  CurrentPolicy policy_;
  Store store_{State{}};
  GpuCheck gpu_check_;
  std::unique_ptr<GpuLibrary> library_;
  std::unique_ptr<CheckRunner> checks_;
};

}  // namespace gpuward::exporter
