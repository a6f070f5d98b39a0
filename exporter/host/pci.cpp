#include "exporter/host/pci.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/runtime/attribute.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;

// A node has a few hundred; a larger number comes from a broken tree.
constexpr std::size_t kMaxPciDevices = 16384;

// PCI-SIG identifiers (pci.ids).
constexpr std::uint32_t kNvidia = 0x10de, kAmd = 0x1002, kAmazon = 0x1d0f;
// Base class and sub-class (PCI Code and ID Assignment Specification).
constexpr std::uint32_t kVga = 0x0300, k3d = 0x0302, kOtherDisplay = 0x0380, kAccelerator = 0x1200;
// The class of an NVSwitch is a bridge of another kind.
constexpr std::uint32_t kOtherBridge = 0x0680;
// efa_pci_tbl of the kernel's driver: 0xefa0 and up, one more with each generation.
constexpr std::uint32_t kEfaPrefix = 0xefa;

std::uint32_t kind_of(const PciDevice& device) { return device.device_class >> 8; }

std::optional<PciDevice> read_pci_device(const fs::path& folder, const std::string& name) {
  const auto address = parse_pci_address(name);
  const auto vendor = read_hex(folder / "vendor");
  const auto device = read_hex(folder / "device");
  const auto device_class = read_hex(folder / "class");
  if (!address || !vendor || !device || !device_class) return std::nullopt;
  std::error_code ignored;
  return PciDevice{*address,
                   *vendor,
                   *device,
                   *device_class,
                   link_name(folder / "driver"),
                   fs::is_symlink(folder / "physfn", ignored)};
}

}  // namespace

Result<std::vector<PciDevice>> list_pci_devices(const HostPaths& host) {
  const fs::path bus = host.sys / "bus/pci/devices";
  const Listing listing = list_folder(bus, kMaxPciDevices);
  if (!listing.is_complete)
    return fail(ErrorKind::kUnavailable, "cannot read all of " + bus.string());
  std::error_code ignored;
  if (listing.names.empty() && !fs::is_directory(bus, ignored))
    return fail(ErrorKind::kNotFound, "no PCI bus in " + bus.string());
  std::vector<PciDevice> devices;
  for (const std::string& name : listing.names) {
    if (auto device = read_pci_device(bus / name, name)) devices.push_back(std::move(*device));
  }
  std::ranges::sort(devices, {}, &PciDevice::address);
  return devices;
}

bool is_nvidia_gpu(const PciDevice& device) {
  const std::uint32_t kind = kind_of(device);
  return device.vendor == kNvidia && !device.is_virtual_function && (kind == kVga || kind == k3d);
}

bool is_amd_gpu(const PciDevice& device) {
  const std::uint32_t kind = kind_of(device);
  return device.vendor == kAmd && !device.is_virtual_function &&
         (kind == kVga || kind == kOtherDisplay || kind == kAccelerator);
}

bool is_display(const PciDevice& device) { return kind_of(device) == kVga; }

bool has_amd_accelerator(const HostPaths& host) {
  const auto devices = list_pci_devices(host);
  return devices && std::ranges::any_of(*devices, [](const PciDevice& device) {
           return is_amd_gpu(device) && !is_display(device);
         });
}

bool is_nvswitch(const PciDevice& device) {
  return device.vendor == kNvidia && kind_of(device) == kOtherBridge;
}

bool is_efa(const PciDevice& device) { return is_efa(device.vendor, device.device); }

bool is_efa(std::uint32_t vendor, std::uint32_t device) {
  return vendor == kAmazon && device >> 4 == kEfaPrefix;
}

Result<std::size_t> count_efa(const HostPaths& host) {
  const auto devices = list_pci_devices(host);
  if (!devices) return std::unexpected(devices.error());
  return static_cast<std::size_t>(
      std::ranges::count_if(*devices, [](const PciDevice& device) { return is_efa(device); }));
}

}  // namespace gpuward::exporter
