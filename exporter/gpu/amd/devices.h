// The GPUs of the amdgpu driver and their folders in sysfs. Used by SysfsLibrary. Reads only the
// kernel's memory; never accesses a GPU.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "core/model/pci_address.h"

namespace gpuward::exporter::amd {

struct Device {
  PciAddress pci;
  std::filesystem::path folder;  // sys/bus/pci/devices/<BDF>, or a link to it
};

struct Devices {
  bool is_driver_loaded = false;
  // Ascending by address, without virtual functions of a GPU that is listed too.
  std::vector<Device> devices;
  // AMD's display controllers and accelerators on the PCI bus, with any driver.
  std::size_t on_pci = 0;
};

[[nodiscard]] Devices find_devices(const std::filesystem::path& sys);

}  // namespace gpuward::exporter::amd
