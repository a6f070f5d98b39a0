#include "exporter/gpu/nvidia/places.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/runtime/files.h"

namespace gpuward::exporter::nvml {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 64;

bool begins_with(const fs::path& file, std::string_view text) {
  const auto content = read_file(file, kMostBytes);
  return content && content->starts_with(text);
}

// Display and 3D controllers, and no virtual functions of a GPU that is here too.
bool is_gpu(const fs::path& device) {
  std::error_code failed;
  return begins_with(device / "vendor", "0x10de") && begins_with(device / "class", "0x03") &&
         !fs::exists(device / "physfn", failed);
}

bool is_driven(const fs::path& device) {
  std::error_code failed;
  return fs::read_symlink(device / "driver", failed).filename() == "nvidia" && !failed;
}

}  // namespace

std::vector<PciAddress> gpus_of_driver(const std::string& sys) {
  std::vector<PciAddress> gpus;
  std::error_code failed;
  for (fs::directory_iterator at(fs::path(sys) / "bus/pci/devices", failed);
       !failed && at != fs::directory_iterator(); at.increment(failed)) {
    const auto address = parse_pci_address(at->path().filename().string());
    if (address && is_gpu(at->path()) && is_driven(at->path())) gpus.push_back(*address);
  }
  std::ranges::sort(gpus);
  return gpus;
}

void place_gpus(const std::vector<PciAddress>& on_bus, std::vector<GpuReading>& gpus) {
  std::vector<GpuReading*> nowhere;
  for (GpuReading& reading : gpus) {
    if (!reading.gpu.has_address()) nowhere.push_back(&reading);
  }
  std::vector<PciAddress> left = on_bus;
  std::erase_if(left, [&](const PciAddress& place) {
    return std::ranges::any_of(
        gpus, [&](const GpuReading& reading) { return reading.gpu.pci.same_device(place); });
  });
  if (left.size() != nowhere.size()) return;
  const bool are_alike = std::ranges::all_of(nowhere, &GpuReading::is_lost);
  if (nowhere.size() > 1 && !are_alike) return;
  for (std::size_t i = 0; i < left.size(); ++i) nowhere[i]->gpu.pci = left[i];
}

}  // namespace gpuward::exporter::nvml
