// What is asked of one GPU, group by group; each group is announced to the parent before it is
// read, so that a hang has a name. Used by read_device.cpp. A new group is one function and one
// line in kGroups (readings.cpp).
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "exporter/gpu/nvidia/device_query.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::nvml {

// What is kept of a GPU while the library stays open.
struct KnownDevice {
  Gpu gpu;  // as it was when it could still be asked
  // It answered as if there were no driver even to a library just opened: that is its own fault.
  bool refuses = false;
  std::array<std::string, kMaxLinks> link_remotes;
  // The margins at which the driver acts: shutdown, slowdown, memory, GPU. They do not change.
  std::array<Maybe<double>, 4> margins;
  // The last answers to what only a thorough reading asks; absent before the first.
  Maybe<GpuReading> rare;
};

struct Group {
  std::string_view name;
  void (*read)(DeviceQuery& query, KnownDevice& known, GpuReading& reading);
};

// All but the identity, in the order in which they are asked.
[[nodiscard]] std::span<const Group> groups();

// Index, UUID, serial, PCI address, name, VBIOS, part number, minor number, architecture.
// Only a thorough reading asks for what a board keeps for life.
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
