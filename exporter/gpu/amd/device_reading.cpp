#include "exporter/gpu/amd/device_reading.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "exporter/gpu/amd/gpu_metrics.h"
#include "exporter/gpu/amd/ras.h"
#include "exporter/gpu/amd/sensors.h"
#include "exporter/gpu/amd/sysfs.h"

namespace gpuward::exporter::amd {
namespace {

// Names of AMD's data centre GPUs by their PCI ids, for boards without a name of their own. Used by
// read_device().

struct Product {
  std::uint64_t device;
  std::string_view name;
};

// pci.ids, vendor 1002.
constexpr Product kProducts[] = {
    {0x738c, "AMD Instinct MI100"},  {0x7408, "AMD Instinct MI250X"},
    {0x740c, "AMD Instinct MI250X"}, {0x740f, "AMD Instinct MI210"},
    {0x74a0, "AMD Instinct MI300A"}, {0x74a1, "AMD Instinct MI300X"},
    {0x74a2, "AMD Instinct MI308X"}, {0x74a5, "AMD Instinct MI325X"},
    {0x75a0, "AMD Instinct MI350X"}, {0x75a3, "AMD Instinct MI355X"},
};

// Finds the name by PCI device number; "AMD GPU 0x74a1" if the table lacks it.
std::string product_name(std::uint64_t device) {
  const auto* const found = std::ranges::find(kProducts, device, &Product::device);
  if (found != std::end(kProducts)) return std::string(found->name);
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), device, 16).ptr;
  return "AMD GPU 0x" + std::string(digits.data(), end);
}

namespace fs = std::filesystem;

constexpr std::size_t kMaxMetricsBytes = 1U << 16U;  // the file's size field has 16 bits

// "GPU-" and unique_id, as ROCm's runtime writes it. Always from this source: a different UUID
// would look like another board in the slot and clear the findings of this one.
std::string uuid_of(const fs::path& folder) {
  const std::string id = read_word(folder / "unique_id");
  const auto digits = std::string_view(id).substr(id.starts_with("0x") ? 2 : 0);
  const auto number = parse_integer<std::uint64_t>(digits, 16);
  return number && *number != 0 ? "GPU-" + id : std::string();
}

void read_identity(const Device& device, GpuReading& reading) {
  reading.gpu.vendor = Vendor::kAmd;
  reading.gpu.pci = device.pci;
  reading.gpu.uuid = uuid_of(device.folder);
  reading.gpu.serial = read_word(device.folder / "serial_number");
  reading.gpu.name = read_word(device.folder / "product_name");
  if (reading.gpu.name.empty()) {
    reading.gpu.name = product_name(read_hex(device.folder / "device").value_or(0));
  }
  reading.part_number = read_word(device.folder / "product_number");
  reading.vbios_version = read_word(device.folder / "vbios_version");
  reading.compute_partition = read_word(device.folder / "current_compute_partition");
  reading.memory_partition = read_word(device.folder / "current_memory_partition");
}

Maybe<double> read_ratio(const fs::path& path) {
  const auto percent = read_number(path);
  if (!percent || *percent > 100) return std::nullopt;
  return static_cast<double>(*percent) / 100;
}

void read_memory(const fs::path& folder, GpuReading& reading) {
  const auto total = read_number(folder / "mem_info_vram_total");
  if (!total || *total == 0) return;
  reading.memory_total_bytes = total;
  reading.memory_used_bytes = read_number(folder / "mem_info_vram_used");
  if (reading.memory_used_bytes && *reading.memory_used_bytes <= *total) {
    reading.memory_free_bytes = *total - *reading.memory_used_bytes;
  }
}

template <typename T>
void fill_gap(Maybe<T>& field, const Maybe<T>& value) {
  if (!field) field = value;
}

// Fills gaps of the driver's files with the firmware's values.
void add_metrics(const GpuMetrics& metrics, GpuReading& reading) {
  fill_gap(reading.thermals.gpu, metrics.edge);
  fill_gap(reading.thermals.hotspot, metrics.hotspot);
  fill_gap(reading.thermals.memory, metrics.memory);
  fill_gap(reading.power.usage_watts, metrics.power_watts);
  fill_gap(reading.power.energy_joules, metrics.energy_joules);
  fill_gap(reading.utilization_ratio, metrics.utilization_ratio);
  fill_gap(reading.memory_utilization_ratio, metrics.memory_utilization_ratio);
  fill_gap(reading.pcie.width, metrics.pcie_width);
  fill_gap(reading.pcie.generation, metrics.pcie_generation);
  fill_gap(reading.pcie.replays, metrics.pcie_replays);
  fill_gap(reading.sm_clock_mhz, metrics.sm_clock_mhz);
  fill_gap(reading.memory_clock_mhz, metrics.memory_clock_mhz);
  for (std::size_t number = 0; number < metrics.links.size(); ++number) {
    if (!metrics.links[number]) continue;
    Link& link = reading.links.emplace_back();
    link.number = static_cast<std::uint32_t>(number);
    link.active = metrics.links[number];
  }
}

void read_metrics(const fs::path& folder, GpuReading& reading) {
  const auto bytes = read_file(folder / "gpu_metrics", kMaxMetricsBytes);
  const auto metrics = bytes ? parse_gpu_metrics(*bytes) : std::nullopt;
  if (metrics) add_metrics(*metrics, reading);
}

}  // namespace

GpuReading read_device(const Device& device, const PartProgress& progress) {
  GpuReading reading;
  progress("identity");
  read_identity(device, reading);
  progress("memory");
  read_memory(device.folder, reading);
  reading.utilization_ratio = read_ratio(device.folder / "gpu_busy_percent");
  reading.memory_utilization_ratio = read_ratio(device.folder / "mem_busy_percent");
  progress("pcie");
  reading.pcie = read_pcie(device.folder);
  progress("hwmon");
  read_hwmon(device.folder, reading);
  progress("gpu_metrics");
  read_metrics(device.folder, reading);
  progress("ras");
  reading.ras = read_ras(device.folder);
  add_totals(reading.ras, reading.ecc);
  reading.bad_pages = read_bad_pages(device.folder);
  return reading;
}

}  // namespace gpuward::exporter::amd
