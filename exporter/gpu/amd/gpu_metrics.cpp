#include "exporter/gpu/amd/gpu_metrics.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <limits>

namespace gpuward::exporter::amd {
namespace {

// structure_size (2 bytes), format_revision, content_revision.
constexpr std::size_t kHeaderBytes = 4;
// The offset of a field that a layout lacks: the header is at 0.
constexpr std::size_t kNone = 0;
constexpr std::size_t kLinks = 8;  // NUM_XGMI_LINKS

// The offsets of the fields in bytes, from the structs gpu_metrics_v1_3 … gpu_metrics_v1_8 of the
// kernel's drivers/gpu/drm/amd/include/kgd_pp_interface.h, aligned as in C.
struct Layout {
  std::uint8_t format, content;
  std::uint16_t size;
  std::size_t edge, hotspot, memory, power, activity, memory_activity;
  std::size_t energy;  // kNone for 1.3: its unit differs by GPU
  std::size_t width, speed, replays;
  std::size_t clock, memory_clock, links;
};

constexpr Layout kLayouts[] = {
    {1, 3, 120, 4, 6, 8, 22, 16, 18, kNone, 74, 76, kNone, 54, 58, kNone},
    {1, 4, 288, kNone, 4, 6, 10, 12, 14, 24, 48, 50, 88, 240, 280, kNone},
    {1, 5, 360, kNone, 4, 6, 10, 12, 14, 88, 112, 114, 152, 312, 352, kNone},
    {1, 6, 1664, kNone, 4, 6, 10, 12, 14, 16, 60, 62, 104, 264, 304, kNone},
    {1, 7, 2208, kNone, 4, 6, 10, 12, 14, 24, 68, 70, 112, 296, 336, 264},
    {1, 8, 3872, kNone, 4, 6, 10, 12, 14, 24, 68, 70, 112, 296, 336, 264},
};

// Little-endian. All ones mean "not supported".
template <std::unsigned_integral T>
Maybe<T> take(std::string_view bytes, std::size_t offset) {
  if (offset == kNone || offset + sizeof(T) > bytes.size()) return std::nullopt;
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) {
    value = static_cast<T>(static_cast<std::uint64_t>(value) << 8U |
                           static_cast<std::uint8_t>(bytes[offset + i]));
  }
  if (value == std::numeric_limits<T>::max()) return std::nullopt;
  return value;
}

template <typename T>
Maybe<double> scaled(const Maybe<T>& value, double unit) {
  return value ? Maybe<double>(static_cast<double>(*value) * unit) : std::nullopt;
}

// A percentage; absent above 100.
Maybe<double> ratio(const Maybe<std::uint16_t>& percent) {
  return percent && *percent <= 100 ? scaled(percent, 0.01) : std::nullopt;
}

std::vector<Maybe<bool>> links_of(std::string_view bytes, std::size_t offset) {
  std::vector<Maybe<bool>> links;
  if (offset == kNone) return links;
  for (std::size_t link = 0; link < kLinks; ++link) {
    const auto status = take<std::uint16_t>(bytes, offset + link * sizeof(std::uint16_t));
    links.push_back(status && *status <= 1 ? Maybe<bool>(*status == 1) : std::nullopt);
  }
  while (!links.empty() && !links.back()) links.pop_back();
  return links;
}

GpuMetrics read_fields(std::string_view bytes, const Layout& at) {
  constexpr double kJoules = 1.0 / 65536;  // energy_accumulator: 15.259 µJ, 2^-16 J
  const auto word = [&](std::size_t offset) { return take<std::uint16_t>(bytes, offset); };
  GpuMetrics read;
  read.edge = scaled(word(at.edge), 1);
  read.hotspot = scaled(word(at.hotspot), 1);
  read.memory = scaled(word(at.memory), 1);
  read.power_watts = scaled(word(at.power), 1);
  read.energy_joules = scaled(take<std::uint64_t>(bytes, at.energy), kJoules);
  read.utilization_ratio = ratio(word(at.activity));
  read.memory_utilization_ratio = ratio(word(at.memory_activity));
  if (const auto width = word(at.width); width && *width > 0) read.pcie_width = *width;
  if (const auto speed = word(at.speed)) read.pcie_generation = pcie_generation_of(*speed * 0.1);
  read.pcie_replays = take<std::uint64_t>(bytes, at.replays);
  read.sm_clock_mhz = scaled(word(at.clock), 1);
  read.memory_clock_mhz = scaled(word(at.memory_clock), 1);
  read.links = links_of(bytes, at.links);
  return read;
}

}  // namespace

std::optional<GpuMetrics> parse_gpu_metrics(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  const auto byte = [&](std::size_t offset) {
    return static_cast<unsigned>(static_cast<unsigned char>(bytes[offset]));
  };
  const unsigned size = byte(0) | byte(1) << 8U;
  const auto* const layout = std::ranges::find_if(kLayouts, [&](const Layout& each) {
    return each.format == byte(2) && each.content == byte(3) && each.size == size;
  });
  if (layout == std::end(kLayouts) || bytes.size() < size) return std::nullopt;
  return read_fields(bytes.substr(0, size), *layout);
}

Maybe<std::uint32_t> pcie_generation_of(double giga_transfers) {
  constexpr double kSpeeds[] = {2.5, 5, 8, 16, 32, 64};
  const auto* const found = std::ranges::find_if(
      kSpeeds, [&](double speed) { return std::abs(speed - giga_transfers) < 0.05; });
  if (found == std::end(kSpeeds)) return std::nullopt;
  return static_cast<std::uint32_t>(found - std::begin(kSpeeds)) + 1;
}

}  // namespace gpuward::exporter::amd
