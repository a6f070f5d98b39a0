#include "exporter/gpu/scenario.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>

#include "core/runtime/yaml.h"

namespace gpuward::exporter {
namespace {

constexpr std::int64_t kMostGpus = 1024;
constexpr std::int64_t kMostLinks = 64;
constexpr std::int64_t kLinksOfHopper = 18;  // NVLink 4 and 5: 18 links a GPU
constexpr double kHottest = 1000;
constexpr double kMostWatts = 100'000;

void read_address(const YamlMap& item, Gpu& gpu) {
  std::string pci;
  item.require("pci", pci);
  if (pci.empty()) return;
  const auto address = parse_pci_address(pci);
  if (!address) {
    item.reject("pci", "is not a PCI address such as 0000:4e:00.0");
    return;
  }
  gpu.pci = *address;
}

Gpu read_gpu(const YamlMap& item, std::size_t place) {
  Gpu gpu;
  gpu.index = static_cast<int>(place);
  item.read("index", gpu.index, 0, kMostGpus - 1);
  item.read("uuid", gpu.uuid);
  item.read("serial", gpu.serial);
  item.read("name", gpu.name);
  read_address(item, gpu);
  item.read_word("vendor", gpu.vendor, yaml_words<Vendor, 2>());
  return gpu;
}

// Two GPUs with one key would become one series; the error is reported at the later one.
void reject_repeats(const YamlMap& item, const Gpu& gpu, const std::vector<GpuReading>& earlier) {
  for (const GpuReading& reading : earlier) {
    const Gpu& other = reading.gpu;
    if (other.index == gpu.index) item.reject("index", "is already used by an earlier GPU");
    if (other.pci.same_device(gpu.pci)) item.reject("pci", "is already used by an earlier GPU");
    if (!gpu.uuid.empty() && other.uuid == gpu.uuid) {
      item.reject("uuid", "is already used by an earlier GPU");
    }
  }
}

template <typename T>
void read_count(const YamlMap& item, std::string_view key, Maybe<T>& out) {
  constexpr std::uint64_t kMost = std::min<std::uint64_t>(std::numeric_limits<T>::max(),
                                                          std::numeric_limits<std::int64_t>::max());
  if (item.has(key)) item.read(key, out.emplace(), 0, static_cast<std::int64_t>(kMost));
}

void read_flag(const YamlMap& item, std::string_view key, Maybe<bool>& out) {
  if (item.has(key)) item.read(key, out.emplace());
}

void read_measure(const YamlMap& item, std::string_view key, double most, Maybe<double>& out) {
  if (item.has(key)) item.read(key, out.emplace(), -most, most);
}

void read_memory(const YamlMap& item, GpuReading& reading) {
  EccCounters& ecc = reading.ecc;
  read_count(item, "ecc_corrected_volatile", ecc.corrected_volatile.total);
  read_count(item, "ecc_uncorrected_volatile", ecc.uncorrected_volatile.total);
  read_count(item, "ecc_corrected_aggregate", ecc.corrected_aggregate.total);
  read_count(item, "ecc_uncorrected_aggregate", ecc.uncorrected_aggregate.total);
  read_flag(item, "ecc_enabled", reading.ecc_enabled);
  read_flag(item, "sram_threshold_exceeded", reading.sram_threshold_exceeded);
  read_count(item, "rows_correctable", reading.rows.correctable);
  read_count(item, "rows_uncorrectable", reading.rows.uncorrectable);
  read_flag(item, "row_remap_pending", reading.rows.pending);
  read_flag(item, "row_remap_failure", reading.rows.failure);
  read_count(item, "retired_pages_single_bit", reading.retired.single_bit);
  read_count(item, "retired_pages_double_bit", reading.retired.double_bit);
  read_flag(item, "retired_pages_pending", reading.retired.pending);
}

void read_links(const YamlMap& item, GpuReading& reading) {
  std::int64_t inactive = 0;
  item.read("links_inactive", inactive, 0, kMostLinks);
  std::int64_t links = inactive > 0 ? kLinksOfHopper : 0;
  item.read("links", links, 0, kMostLinks);
  if (inactive > links) item.reject("links_inactive", "is greater than the number of links");
  for (std::int64_t number = 0; number < links; ++number) {
    Link& link = reading.links.emplace_back();
    link.number = static_cast<std::uint32_t>(number);
    link.active = number >= inactive;
  }
}

void read_condition(const YamlMap& item, GpuReading& reading) {
  item.read("lost", reading.is_lost);
  item.read("fault", reading.fault);
  read_measure(item, "temperature", kHottest, reading.thermals.gpu);
  read_measure(item, "temperature_margin", kHottest, reading.thermals.margin);
  read_measure(item, "power_watts", kMostWatts, reading.power.usage_watts);
  read_count(item, "slowdown_reasons", reading.slowdown.reasons);
  read_count(item, "pcie_generation", reading.pcie.generation);
  read_count(item, "pcie_generation_max", reading.pcie.generation_max);
  read_count(item, "pcie_width", reading.pcie.width);
  read_count(item, "pcie_width_max", reading.pcie.width_max);
  read_count(item, "pcie_replays", reading.pcie.replays);
  read_count(item, "recovery_action", reading.recovery_action);
  read_flag(item, "persistence_mode", reading.persistence_mode);
}

GpuReading read_item(const YamlMap& item, const std::vector<GpuReading>& earlier) {
  GpuReading reading;
  reading.gpu = read_gpu(item, earlier.size());
  reject_repeats(item, reading.gpu, earlier);
  read_memory(item, reading);
  read_links(item, reading);
  read_condition(item, reading);
  return reading;
}

// Marks the GPUs in the file as lost; a missing file names none.
void lose(std::vector<GpuReading>& readings, const std::filesystem::path& lost_file) {
  std::set<std::string> lost;
  std::ifstream in(lost_file);
  for (std::string bus_id; in >> bus_id;) lost.insert(bus_id);
  for (GpuReading& reading : readings) {
    if (lost.contains(reading.gpu.pci.bus_id())) reading.is_lost = true;
  }
}

// Reports each vendor that has a GPU here as if its library worked.
GpuReport by_vendor(std::vector<GpuReading> readings, const std::string& driver_version) {
  std::ranges::sort(readings, {}, [](const GpuReading& reading) { return reading.gpu.index; });
  GpuReport report;
  for (const Vendor vendor : {Vendor::kNvidia, Vendor::kAmd}) {
    VendorReading of_vendor{.vendor = vendor,
                            .state = LibraryState::kReady,
                            .fault = {},
                            .library = "simulated",
                            .driver_version = driver_version,
                            .library_version = {},
                            .gpus = {},
                            .peers = {}};
    for (const GpuReading& reading : readings) {
      if (reading.gpu.vendor == vendor) of_vendor.gpus.push_back(reading);
    }
    if (!of_vendor.gpus.empty()) report.vendors.push_back(std::move(of_vendor));
  }
  return report;
}

}  // namespace

Result<GpuReport> read_scenario(const std::filesystem::path& path) {
  auto file = YamlFile::load(path);
  if (!file) return std::unexpected(file.error());
  const YamlMap root = file->root();
  std::string driver_version, lost_file;
  root.read("driver_version", driver_version);
  root.read("lost_file", lost_file);
  std::vector<GpuReading> readings;
  for (const YamlMap& item : root.maps("gpus")) readings.push_back(read_item(item, readings));
  if (auto status = file->finish(); !status) return std::unexpected(status.error());
  if (!lost_file.empty()) lose(readings, lost_file);
  return by_vendor(std::move(readings), driver_version);
}

}  // namespace gpuward::exporter
