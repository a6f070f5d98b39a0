// The groups of queries to one GPU. Each group is announced to the parent before it is read, so
// that a hang can be located. Used by read_device.cpp. A new group is one function and one line in
// kGroups (readings.cpp).
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "exporter/gpu/nvidia/device_query.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::nvml {

// The state kept for a GPU while the library stays open.
struct KnownDevice {
  Gpu gpu;  // from the last time that it responded
  // It responds as if there were no driver even to a newly opened library: the GPU is at fault.
  bool refuses = false;
  std::array<std::string, kMaxLinks> link_remotes;
  // The margins at which the driver acts: shutdown, slowdown, memory, GPU. They do not change.
  std::array<Maybe<double>, 4> margins;
  // The last results of the queries of a thorough reading; absent before the first.
  Maybe<GpuReading> rare;
};

struct Group {
  std::string_view name;
  void (*read)(DeviceQuery& query, KnownDevice& known, GpuReading& reading);
};

// All groups but the identity, in the order of reading.
[[nodiscard]] std::span<const Group> groups();

// Reads index, UUID, serial, PCI address, name, VBIOS, part number, minor number, architecture.
// Only a thorough reading reads a board's permanent data.
void read_identity(DeviceQuery& query, const KnownDevice& known, GpuReading& reading);

// The groups, each in the file of its subject.
void read_ecc(DeviceQuery& query, KnownDevice& known, GpuReading& reading);
void read_retired_pages(DeviceQuery& query, KnownDevice& known, GpuReading& reading);
void read_remapped_rows(DeviceQuery& query, KnownDevice& known, GpuReading& reading);
void read_memory(DeviceQuery& query, KnownDevice& known, GpuReading& reading);
void read_temperature(DeviceQuery& query, KnownDevice& known, GpuReading& reading);
void read_power(DeviceQuery& query, KnownDevice& known, GpuReading& reading);
void read_slowdown(DeviceQuery& query, KnownDevice& known, GpuReading& reading);
void read_clocks(DeviceQuery& query, KnownDevice& known, GpuReading& reading);
void read_pcie(DeviceQuery& query, KnownDevice& known, GpuReading& reading);
void read_nvlink(DeviceQuery& query, KnownDevice& known, GpuReading& reading);
void read_fabric(DeviceQuery& query, KnownDevice& known, GpuReading& reading);
void read_modes(DeviceQuery& query, KnownDevice& known, GpuReading& reading);
void read_processes(DeviceQuery& query, KnownDevice& known, GpuReading& reading);

}  // namespace gpuward::exporter::nvml
