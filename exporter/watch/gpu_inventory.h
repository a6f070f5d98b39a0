// Which GPUs the node has, from what its drivers say, and why that is not known. Pure; used by the
// GpuWatcher and by whoever joins an event to its GPU.
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

// All vendors' GPUs that have said where they are, in the order of the report. A driver that is
// there and does not work cannot tell: of its GPUs those stay that are `known`.
[[nodiscard]] std::vector<Gpu> gpus_of(const GpuReport& report, const std::vector<Gpu>& known);

// The one at that address; null where there is none, or no address.
[[nodiscard]] const Gpu* find_gpu(const std::vector<Gpu>& gpus,
                                  const std::optional<PciAddress>& pci);

// Why the GPUs of the node are not known, or not known any more; nullopt if they are.
[[nodiscard]] std::optional<std::string> inventory_fault_of(const GpuTelemetry& telemetry);

// The first answer of the driver, or why there is none. `timeout` is of one reading; the first may
// take three times as long, as in the exporter. Blocks a few seconds longer at most: the worker has
// to start first.
[[nodiscard]] GpuTelemetry look_at_gpus(GpuSource& source, std::chrono::milliseconds timeout,
                                        Clock& clock, const std::stop_token& stop);

// The addresses at which this node has GPUs: by the driver's last report, by earlier ones (a GPU
// that has gone), and on the PCI bus now. A line about any other address is not about hardware.
struct GpuAddresses {
  std::set<std::string> bus_ids;
  bool has_amd = false;
  // Neither a driver nor the bus has said anything yet.
  [[nodiscard]] bool is_unknown() const { return bus_ids.empty(); }
  [[nodiscard]] bool has(const PciAddress& pci) const { return bus_ids.contains(pci.bus_id()); }
};
// Reads the PCI bus of `host`.
[[nodiscard]] GpuAddresses gpu_addresses(const Snapshot& snapshot, const HostPaths& host);

}  // namespace gpuward::exporter
