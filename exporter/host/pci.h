// The PCI bus of the node, without any driver: the GPUs, NVSwitches and EFA devices of the machine,
// so that a lost driver and a lost card can be distinguished. Used by checks and by the AMD source.
//
// list_pci_devices() reads only the kernel's memory: any thread, never blocks. probe_pci_device()
// and manages_nvswitches() access the device: the kernel makes the caller wait while a device is
// being reset, so call them on the thread of a check, never on one that /metrics waits for.
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
  std::string driver;              // "nvidia", "vfio-pci"; empty if no driver is bound to it
  bool is_virtual_function = false;
  bool operator==(const PciDevice&) const = default;
};

struct PciLink {
  std::optional<std::uint32_t> generation, generation_max, width, width_max;
  bool operator==(const PciLink&) const = default;
};

struct PciProbe {
  // It returns only ones: it has fallen off the bus, or has no power.
  bool is_off_bus = false;
  PciLink link;  // empty for a device that is off the bus
  bool operator==(const PciProbe&) const = default;
};

// Ascending by address. An error if the bus cannot be read: then no GPU can be called missing.
// kNotFound: no PCI bus in this tree.
[[nodiscard]] Result<std::vector<PciDevice>> list_pci_devices(const HostPaths& host);

// kNotFound: the kernel no longer has that device; kForbidden, kUnavailable: its state is unknown.
[[nodiscard]] Result<PciProbe> probe_pci_device(const HostPaths& host, const PciAddress& address);

// Physical ones only: a virtual function of a listed GPU is not a further GPU.
[[nodiscard]] bool is_nvidia_gpu(const PciDevice& device);
[[nodiscard]] bool is_amd_gpu(const PciDevice& device);
// A device that can drive a screen: a graphics card, or the graphics of a processor.
[[nodiscard]] bool is_display(const PciDevice& device);
// Whether the bus has an AMD GPU that is only for compute. Graphics that can drive a screen are in
// many servers, and Kubernetes does not schedule them.
[[nodiscard]] bool has_amd_accelerator(const HostPaths& host);
[[nodiscard]] bool is_nvswitch(const PciDevice& device);
// Whether it is a ConnectX device that manages NVSwitches which are not on this machine's bus
// (NVLink 5: HGX B100, B200, B300). Its vital product data contains SW_MNG; the scripts of NVIDIA's
// fabric manager look for the same word (github.com/NVIDIA/gpu-operator issue 2781). False for a
// device that is passed to a virtual machine; nullopt if the data cannot be read.
[[nodiscard]] std::optional<bool> manages_nvswitches(const HostPaths& host,
                                                     const PciDevice& device);
[[nodiscard]] bool is_efa(const PciDevice& device);
[[nodiscard]] bool is_efa(std::uint32_t vendor, std::uint32_t device);
// Counts those on the bus now. Errors as for list_pci_devices().
[[nodiscard]] Result<std::size_t> count_efa(const HostPaths& host);

}  // namespace gpuward::exporter
