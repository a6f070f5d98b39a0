// The binary gpu_metrics file: what the GPU's own firmware measures, in a layout that changes with
// nearly every driver release. Pure; bytes are not trusted. Used by read_device().
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::amd {

// What the layout does not have, and what the firmware marks as not supported (all bits set), is
// absent.
struct GpuMetrics {
  Maybe<double> edge, hotspot, memory;  // degrees Celsius
  Maybe<double> power_watts, energy_joules;
  Maybe<double> utilization_ratio, memory_utilization_ratio;  // 0..1
  Maybe<std::uint32_t> pcie_width, pcie_generation;
  Maybe<std::uint64_t> pcie_replays;
  Maybe<double> sm_clock_mhz, memory_clock_mhz;
  std::vector<Maybe<bool>> links;  // XGMI, by number: up or not
  bool operator==(const GpuMetrics&) const = default;
};

// nullopt for a layout that is not known (also a known revision of another size: revision 1.6 was
// given out in two layouts), and for fewer bytes than the header says.
[[nodiscard]] std::optional<GpuMetrics> parse_gpu_metrics(std::string_view bytes);

// 5.0 GT/s is generation 2, 64 is 6; nullopt for speeds that PCI Express does not have.
[[nodiscard]] Maybe<std::uint32_t> pcie_generation_of(double giga_transfers);

}  // namespace gpuward::exporter::amd
