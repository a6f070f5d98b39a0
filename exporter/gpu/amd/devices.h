// Which GPUs the amdgpu driver has, and where sysfs keeps what it says of them. Used by
// SysfsLibrary. Reads what the kernel keeps in memory; never asks a GPU.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "core/model/pci_address.h"

namespace gpuward::exporter::amd {

struct Device {
  PciAddress pci;
  std::filesystem::path folder;  // sys/bus/pci/devices/<BDF>, or what leads there
};

struct Devices {
  bool is_driver_loaded = false;
  // Ascending by address; virtual functions of a GPU that is here too are left out.
  std::vector<Device> devices;
  // Display controllers and accelerators of AMD on the PCI bus, whoever drives them.
  std::size_t on_pci = 0;
};

[[nodiscard]] Devices find_devices(const std::filesystem::path& sys);

}  // namespace gpuward::exporter::amd
