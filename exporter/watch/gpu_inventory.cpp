#include "exporter/watch/gpu_inventory.h"

#include <algorithm>

#include "exporter/gpu/worker/worker_duty.h"
#include "exporter/host/pci.h"

namespace gpuward::exporter {
namespace {

// Added to the time limit of the driver's first reading, so that a hang is still reported.
constexpr std::chrono::milliseconds kToStartWorker{5'000};
constexpr std::chrono::milliseconds kBetweenLooks{50};

// Appends "nvidia: Driver/library version mismatch".
void append_fault(const VendorReading& report, std::string& faults) {
  if (report.state != LibraryState::kUnusable) return;
  if (!faults.empty()) faults += "; ";
  faults += report.vendor == Vendor::kAmd ? "amd: " : "nvidia: ";
  faults += report.fault.empty() ? "the driver's library cannot be used" : report.fault;
}

}  // namespace

std::vector<Gpu> gpus_of(const GpuReport& report, const std::vector<Gpu>& known) {
  std::vector<Gpu> gpus;
  for (const VendorReading& vendor : report.vendors) {
    for (const GpuReading& reading : vendor.gpus) {
      if (reading.gpu.has_address()) gpus.push_back(reading.gpu);
    }
    if (vendor.state != LibraryState::kUnusable || !vendor.gpus.empty()) continue;
    for (const Gpu& gpu : known) {
      if (gpu.vendor == vendor.vendor) gpus.push_back(gpu);
    }
  }
  return gpus;
}

const Gpu* find_gpu(const std::vector<Gpu>& gpus, const std::optional<PciAddress>& pci) {
  if (!pci) return nullptr;
  const auto found =
      std::ranges::find_if(gpus, [&](const Gpu& gpu) { return gpu.pci.same_device(*pci); });
  return found == gpus.end() ? nullptr : &*found;
}

std::optional<std::string> inventory_fault_of(const GpuTelemetry& telemetry) {
  if (!telemetry.fault.empty()) return telemetry.fault;
  if (telemetry.state == WorkerState::kReleased) return std::nullopt;
  if (telemetry.report == nullptr) return "not read yet";
  std::string faults;
  for (const VendorReading& report : telemetry.report->vendors) append_fault(report, faults);
  return faults.empty() ? std::nullopt : std::optional(faults);
}

GpuTelemetry look_at_gpus(GpuSource& source, std::chrono::milliseconds timeout, Clock& clock,
                          const std::stop_token& stop) {
  const auto deadline = clock.steady() + WorkerDuty::kFirstReadingFactor * timeout + kToStartWorker;
  for (;;) {
    GpuTelemetry telemetry = source.telemetry();
    if (telemetry.state != WorkerState::kStarting || clock.steady() >= deadline ||
        stop.stop_requested())
      return telemetry;
    source.wait(kBetweenLooks, stop);
  }
}

GpuAddresses gpu_addresses(const Snapshot& snapshot, const HostPaths& host) {
  GpuAddresses addresses;
  for (const Gpu& gpu : snapshot.gpus) {
    if (!gpu.has_address()) continue;
    addresses.bus_ids.insert(gpu.pci.bus_id());
    addresses.has_amd |= gpu.vendor == Vendor::kAmd;
  }
  for (const auto& [bus_id, uuid] : snapshot.state.boards) addresses.bus_ids.insert(bus_id);
  const auto devices = list_pci_devices(host);
  if (!devices) return addresses;
  for (const PciDevice& device : *devices) {
    if (!is_nvidia_gpu(device) && !is_amd_gpu(device)) continue;
    addresses.bus_ids.insert(device.address.bus_id());
    addresses.has_amd |= is_amd_gpu(device);
  }
  return addresses;
}

}  // namespace gpuward::exporter
