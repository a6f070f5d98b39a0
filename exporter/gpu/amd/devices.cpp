#include "exporter/gpu/amd/devices.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "exporter/gpu/amd/sysfs.h"

namespace gpuward::exporter::amd {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kAmd = 0x1002;  // pci.ids
// Base class and sub-class (PCI Code and ID Assignment Specification): VGA, other display
// controller, processing accelerator. MI200 has the second, MI300 the third.
constexpr std::uint64_t kVga = 0x0300, kOtherDisplay = 0x0380, kAccelerator = 0x1200;

bool is_virtual_function(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_symlink(folder / "physfn", ignored);
}

bool is_amd_gpu(const fs::path& folder) {
  const auto vendor = read_hex(folder / "vendor");
  const auto device_class = read_hex(folder / "class");
  if (vendor != kAmd || !device_class || is_virtual_function(folder)) return false;
  const std::uint64_t kind = *device_class >> 8U;
  return kind == kVga || kind == kOtherDisplay || kind == kAccelerator;
}

std::size_t count_on_pci(const fs::path& sys) {
  const fs::path bus = sys / "bus/pci/devices";
  const auto names = list_names(bus);
  return static_cast<std::size_t>(std::ranges::count_if(
      names, [&](const std::string& name) { return is_amd_gpu(bus / name); }));
}

// The driver's folder contains a link for each of its devices, and other files.
std::vector<Device> devices_of_driver(const fs::path& driver) {
  std::vector<Device> found;
  for (const std::string& name : list_names(driver)) {
    const auto address = parse_pci_address(name);
    if (address && !is_virtual_function(driver / name)) found.push_back({*address, driver / name});
  }
  return found;
}

// `card0`, not its connectors (`card0-DP-1`).
bool is_card(std::string_view name) {
  if (!name.starts_with("card")) return false;
  name.remove_prefix(4);
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

// For trees that contain the DRM class but not the bus (some containers mount only that).
std::vector<Device> devices_of_drm(const fs::path& drm) {
  std::vector<Device> found;
  for (const std::string& name : list_names(drm)) {
    const fs::path folder = drm / name / "device";
    if (!is_card(name) || read_hex(folder / "vendor") != kAmd) continue;
    std::error_code failed;
    const auto address = parse_pci_address(fs::canonical(folder, failed).filename().string());
    if (address && !is_virtual_function(folder)) found.push_back({*address, folder});
  }
  return found;
}

}  // namespace

Devices find_devices(const fs::path& sys) {
  const fs::path driver = sys / "bus/pci/drivers/amdgpu";
  std::error_code ignored;
  Devices found;
  found.is_driver_loaded = fs::is_directory(driver, ignored);
  found.on_pci = count_on_pci(sys);
  found.devices =
      found.is_driver_loaded ? devices_of_driver(driver) : devices_of_drm(sys / "class/drm");
  if (!found.devices.empty()) found.is_driver_loaded = true;
  std::ranges::sort(found.devices, {}, &Device::pci);
  return found;
}

}  // namespace gpuward::exporter::amd
