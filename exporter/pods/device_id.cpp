#include "exporter/pods/device_id.h"

#include <algorithm>

#include "core/model/pci_address.h"
#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

std::string amd_id(std::string_view id) {
  const std::string lower = to_lower(id);  // a partition: amdgpu_xcp_12
  const auto address = parse_pci_address(lower);
  return address ? address->bus_id() : lower;
}

}  // namespace

std::optional<std::string> device_id_of_resource(std::string_view resource, std::string_view id) {
  if (id.empty()) return std::nullopt;
  if (resource.starts_with("amd.com/")) return amd_id(id);
  if (!resource.starts_with("nvidia.com/")) return std::nullopt;
  id = id.substr(0, id.find("::"));
  if (id.starts_with("nvidia")) id = id.substr(0, id.find('/'));
  return std::string(id);
}

std::optional<std::string> device_id_of_claim(std::string_view driver, std::string_view device) {
  if (device.empty()) return std::nullopt;
  if (driver == "gpu.amd.com") return "gpu.amd.com/" + std::string(device);
  if (driver != "gpu.nvidia.com") return std::nullopt;
  std::string_view rest = device;
  if (rest.starts_with("gpu-")) {
    rest.remove_prefix(4);
    if (const auto minor = parse_integer<std::uint32_t>(rest.substr(0, rest.find('-')))) {
      return device_id_of_minor(*minor);
    }
  }
  return "gpu.nvidia.com/" + std::string(device);
}

std::string device_id_of_minor(std::uint32_t minor) { return "nvidia" + std::to_string(minor); }

}  // namespace gpuward::exporter
