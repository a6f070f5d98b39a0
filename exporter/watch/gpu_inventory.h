// The GPUs of the node by its drivers, or why they are unknown. Pure; used by the GpuWatcher and by
// the code that matches an event to its GPU.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/model/gpu.h"
#include "core/runtime/clock.h"
#include "exporter/gpu/report/source.h"
#include "exporter/host/host_paths.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

// Returns all vendors' GPUs that have an address, in the order of the report. For a driver that is
// present but does not work, its `known` GPUs stay.
[[nodiscard]] std::vector<Gpu> gpus_of(const GpuReport& report, const std::vector<Gpu>& known);

// Returns the GPU at that address; null if there is none, or no address.
[[nodiscard]] const Gpu* find_gpu(const std::vector<Gpu>& gpus,
                                  const std::optional<PciAddress>& pci);

// Returns why the GPUs of the node are not known, or no longer known; nullopt if they are.
[[nodiscard]] std::optional<std::string> inventory_fault_of(const GpuTelemetry& telemetry);

// Returns the first answer of the driver, or why there is none. `timeout` is for one reading; the
// first may take three times as long, as in the exporter. Blocks a few seconds longer at most,
// because the worker must start first.
[[nodiscard]] GpuTelemetry look_at_gpus(GpuSource& source, std::chrono::milliseconds timeout,
                                        Clock& clock, const std::stop_token& stop);

// The addresses of this node's GPUs: in the driver's last report, in earlier ones (a GPU that is
// gone), and on the PCI bus now. A line about any other address is not about hardware.
struct GpuAddresses {
  std::set<std::string> bus_ids;
  bool has_amd = false;
  // True if neither a driver nor the bus has reported any GPU yet.
  [[nodiscard]] bool is_unknown() const { return bus_ids.empty(); }
  [[nodiscard]] bool has(const PciAddress& pci) const { return bus_ids.contains(pci.bus_id()); }
};
// Reads the PCI bus of `host`.
[[nodiscard]] GpuAddresses gpu_addresses(const Snapshot& snapshot, const HostPaths& host);

}  // namespace gpuward::exporter
