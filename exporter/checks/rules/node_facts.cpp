#include "exporter/checks/rules/node_facts.h"

#include <algorithm>
#include <utility>

#include "exporter/host/boot.h"

namespace gpuward::exporter {
namespace {

// Returns true if the driver reports the GPU, has not lost it, and it answers.
bool is_driven(const GpuTelemetry& telemetry, const std::string& bus_id) {
  if (telemetry.state != WorkerState::kAnswering || !telemetry.report) return false;
  for (const VendorReading& vendor : telemetry.report->vendors) {
    for (const GpuReading& reading : vendor.gpus) {
      if (reading.gpu.pci.bus_id() == bus_id) return !reading.is_lost && !reading.is_hung;
    }
  }
  return false;
}

bool is_off_bus(const HostPaths& host, const PciAddress& address) {
  const auto probe = probe_pci_device(host, address);
  // A device that cannot be probed is not dead, unless it is gone.
  return probe ? probe->is_off_bus : probe.error().kind == ErrorKind::kNotFound;
}

std::vector<PciGpu> read_gpus(const HostPaths& host, const std::vector<PciDevice>& devices,
                              const GpuTelemetry& telemetry) {
  // A reset takes a GPU off the bus for a moment.
  const bool has_answered =
      telemetry.state != WorkerState::kStarting && telemetry.state != WorkerState::kReleased;
  std::vector<PciGpu> gpus;
  for (const PciDevice& device : devices) {
    if (!is_nvidia_gpu(device) && !is_amd_gpu(device)) continue;
    PciGpu gpu;
    gpu.vendor = is_amd_gpu(device) ? Vendor::kAmd : Vendor::kNvidia;
    gpu.bus_id = device.address.bus_id();
    gpu.driver = device.driver;
    gpu.is_display = is_display(device);
    gpu.is_dead =
        has_answered && !is_driven(telemetry, gpu.bus_id) && is_off_bus(host, device.address);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace

NodeFacts NodeFactsReader::read(const HostPaths& host, const Snapshot& snapshot, WallTime now) {
  using std::chrono::seconds;
  NodeFacts facts;
  if (const auto devices = list_pci_devices(host)) {
    facts.pci_gpus = read_gpus(host, *devices, snapshot.telemetry);
    facts.has_nvswitch = std::ranges::any_of(
        *devices, [&](const PciDevice& device) { return is_nvswitch_or_manager(host, device); });
  }
  const Boot boot = read_boot(host);
  if (!boot.uptime) return facts;
  facts.since_boot = std::chrono::duration_cast<seconds>(*boot.uptime);
  for (const char* name : {"nvidia", "amdgpu"}) {
    const auto module = read_module(host, name);
    if (!module) continue;
    const WallTime loaded = ages_.loaded_since(*module, now - *boot.uptime);
    const auto age = std::chrono::duration_cast<seconds>(now - loaded);
    facts.since_driver_load = std::min(age, facts.since_driver_load.value_or(age));
  }
  return facts;
}

bool NodeFactsReader::is_nvswitch_or_manager(const HostPaths& host, const PciDevice& device) {
  if (is_nvswitch(device)) return true;
  const std::pair key(device.address, device.driver);
  const auto known = nvswitch_managers_.find(key);
  if (known != nvswitch_managers_.end()) return known->second;
  const auto answer = manages_nvswitches(host, device);
  if (answer) nvswitch_managers_.emplace(key, *answer);
  return answer.value_or(false);
}

}  // namespace gpuward::exporter
