#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "core/runtime/attribute.h"
#include "core/runtime/files.h"
#include "exporter/host/pci.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;

// Vendor and device identifier: the first bytes that a device returns, and 0xffffffff if no device
// responds (PCI Express Base Specification 2.3.2; kernel, PCI_POSSIBLE_ERROR).
using ConfigStart = std::array<unsigned char, 4>;

ErrorKind kind_of(int error) {
  if (error == ENOENT || error == ENODEV) return ErrorKind::kNotFound;
  return error == EACCES || error == EPERM ? ErrorKind::kForbidden : ErrorKind::kUnavailable;
}

constexpr std::uint32_t kMellanox = 0x15b3;      // pci.ids
constexpr std::size_t kMostProductData = 32768;  // kernel, PCI_VPD_MAX_SIZE

Result<ConfigStart> read_config_start(const fs::path& path) {
  const auto failed = [&path](int error) {
    return fail(kind_of(error),
                "cannot read " + path.string() + ": " + std::generic_category().message(error));
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return failed(errno);
  ConfigStart start{};
  const ssize_t size = ::read(file, start.data(), start.size());
  const int error = size < 0 ? errno : EIO;
  ::close(file);
  if (size != static_cast<ssize_t>(start.size())) return failed(error);
  return start;
}

// `16.0 GT/s PCIe`, `Unknown`; older kernels print `8 GT/s` (kernel, pci_speed_string()).
std::optional<std::uint32_t> generation_of(const std::optional<std::string>& speed) {
  constexpr std::array<std::pair<std::string_view, std::uint32_t>, 9> kSpeeds{{{"2.5 GT/s", 1},
                                                                               {"5.0 GT/s", 2},
                                                                               {"5 GT/s", 2},
                                                                               {"8.0 GT/s", 3},
                                                                               {"8 GT/s", 3},
                                                                               {"16.0 GT/s", 4},
                                                                               {"16 GT/s", 4},
                                                                               {"32.0 GT/s", 5},
                                                                               {"64.0 GT/s", 6}}};
  if (!speed) return std::nullopt;
  for (const auto& [text, generation] : kSpeeds) {
    if (speed->starts_with(text)) return generation;
  }
  return std::nullopt;
}

// 1 to 32 lanes; 0 and 63 come from a device that does not respond.
std::optional<std::uint32_t> read_width(const fs::path& path) {
  constexpr std::uint64_t kMostLanes = 32;
  const auto width = read_number(path);
  if (!width || *width == 0 || *width > kMostLanes) return std::nullopt;
  return static_cast<std::uint32_t>(*width);
}

PciLink read_link(const fs::path& folder) {
  return {generation_of(read_attribute(folder / "current_link_speed")),
          generation_of(read_attribute(folder / "max_link_speed")),
          read_width(folder / "current_link_width"), read_width(folder / "max_link_width")};
}

}  // namespace

Result<PciProbe> probe_pci_device(const HostPaths& host, const PciAddress& address) {
  PciAddress full = address;
  if (!full.function) full.function = 0;
  const fs::path folder = host.sys / "bus/pci/devices" / full.full();
  const auto start = read_config_start(folder / "config");
  if (!start) return std::unexpected(start.error());
  if (std::ranges::all_of(*start, [](unsigned char byte) { return byte == 0xFF; })) {
    return PciProbe{true, {}};
  }
  return PciProbe{false, read_link(folder)};
}

std::optional<bool> manages_nvswitches(const HostPaths& host, const PciDevice& device) {
  if (device.vendor != kMellanox || device.driver.contains("vfio")) return false;
  const auto data =
      read_file(host.sys / "bus/pci/devices" / device.address.full() / "vpd", kMostProductData);
  if (data) return data->contains("SW_MNG");
  return data.error().kind == ErrorKind::kNotFound ? std::optional(false) : std::nullopt;
}

}  // namespace gpuward::exporter
