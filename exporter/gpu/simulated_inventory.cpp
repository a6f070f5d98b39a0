#include "exporter/gpu/simulated_inventory.h"

#include <algorithm>

#include "core/runtime/yaml.h"

namespace gpuward::exporter {
namespace {

constexpr std::int64_t kMostGpus = 1024;

void read_vendor(const YamlMap& item, Gpu& gpu) {
  std::string vendor = "nvidia";
  item.read("vendor", vendor);
  if (vendor == "amd") gpu.vendor = Vendor::kAmd;
  if (vendor != "amd" && vendor != "nvidia") item.reject("vendor", "is neither nvidia nor amd");
}

void read_address(const YamlMap& item, Gpu& gpu) {
  std::string pci;
  item.require("pci", pci);
  if (pci.empty()) return;
  const auto address = parse_pci_address(pci);
  if (!address) {
    item.reject("pci", "is no PCI address such as 0000:4e:00.0");
    return;
  }
  gpu.pci = *address;
}

Gpu read_gpu(const YamlMap& item, std::size_t place) {
  Gpu gpu;
  std::int64_t index = static_cast<std::int64_t>(place);
  item.read("index", index, 0, kMostGpus - 1);
  gpu.index = static_cast<int>(index);
  item.read("uuid", gpu.uuid);
  item.read("serial", gpu.serial);
  item.read("name", gpu.name);
  read_address(item, gpu);
  read_vendor(item, gpu);
  return gpu;
}

// Two GPUs with one key would become one series: said at the later one.
void reject_repeats(const YamlMap& item, const Gpu& gpu, const std::vector<Gpu>& earlier) {
  for (const Gpu& other : earlier) {
    if (other.index == gpu.index) item.reject("index", "is that of an earlier GPU");
    if (other.pci.same_device(gpu.pci)) item.reject("pci", "is that of an earlier GPU");
    if (!gpu.uuid.empty() && other.uuid == gpu.uuid) {
      item.reject("uuid", "is that of an earlier GPU");
    }
  }
}

}  // namespace

Result<std::vector<Gpu>> SimulatedInventory::list() {
  auto file = YamlFile::load(path_);
  if (!file) return std::unexpected(file.error());
  std::vector<Gpu> gpus;
  const YamlMap root = file->root();
  for (const YamlMap& item : root.maps("gpus")) {
    const Gpu gpu = read_gpu(item, gpus.size());
    reject_repeats(item, gpu, gpus);
    gpus.push_back(gpu);
  }
  if (auto status = file->finish(); !status) return std::unexpected(status.error());
  std::ranges::sort(gpus, {}, &Gpu::index);
  return gpus;
}

}  // namespace gpuward::exporter
