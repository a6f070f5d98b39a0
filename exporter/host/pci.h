// What the PCI bus says about the node, without any driver: which GPUs, NVSwitches and EFA devices
// the machine has, so that a lost driver and a lost card can be distinguished. Used by checks and
// by the AMD source.
//
// list_pci_devices() reads what the kernel keeps in memory: any thread, never blocks.
// probe_pci_device() asks the device itself: the kernel makes the caller wait while a device is
// being reset, so call it on the thread of a check, never on one that /metrics waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/pci_address.h"
#include "core/model/result.h"
#include "exporter/host/host_paths.h"

namespace gpuward::exporter {

struct PciDevice {
  PciAddress address;
  std::uint32_t vendor = 0, device = 0;
  std::uint32_t device_class = 0;  // 0x030200: a 3D controller
  std::string driver;              // "nvidia", "vfio-pci"; empty where none has it
  bool is_virtual_function = false;
  bool operator==(const PciDevice&) const = default;
};

struct PciLink {
  std::optional<std::uint32_t> generation, generation_max, width, width_max;
  bool operator==(const PciLink&) const = default;
};

struct PciProbe {
  // It answers with nothing but ones: it has fallen off the bus, or has no power.
  bool is_off_bus = false;
  PciLink link;  // empty of a device that is off the bus
  bool operator==(const PciProbe&) const = default;
};

// Ascending by address. An error where the bus cannot be read: nobody can then say that a GPU is
// missing. kNotFound: no PCI bus in this tree.
[[nodiscard]] Result<std::vector<PciDevice>> list_pci_devices(const HostPaths& host);

// kNotFound: the kernel no longer has that device; kForbidden, kUnavailable: nobody can tell.
[[nodiscard]] Result<PciProbe> probe_pci_device(const HostPaths& host, const PciAddress& address);

// Physical ones: a virtual function of a GPU that is here too is not a GPU more.
[[nodiscard]] bool is_nvidia_gpu(const PciDevice& device);
[[nodiscard]] bool is_amd_gpu(const PciDevice& device);
// One that can drive a screen: a graphics card, the graphics of a processor; not only for work.
[[nodiscard]] bool is_display(const PciDevice& device);
// An AMD GPU that is only for work is on the bus. Graphics that can drive a screen are in many a
// server, and nobody schedules them.
[[nodiscard]] bool has_amd_accelerator(const HostPaths& host);
[[nodiscard]] bool is_nvswitch(const PciDevice& device);
[[nodiscard]] bool is_efa(const PciDevice& device);
[[nodiscard]] bool is_efa(std::uint32_t vendor, std::uint32_t device);
// On the bus now. Errors as of list_pci_devices().
[[nodiscard]] Result<std::size_t> count_efa(const HostPaths& host);

}  // namespace gpuward::exporter
