// The binary gpu_metrics file: values that the GPU's firmware measures, in a layout that changes
// with nearly every driver release. Pure; the bytes are untrusted. Used by read_device().
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::amd {

// Values that the layout lacks, or that the firmware marks as not supported (all bits set), are
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

// nullopt for an unknown layout (also for a known revision with another size: revision 1.6 exists
// in two layouts), and for fewer bytes than the header claims.
[[nodiscard]] std::optional<GpuMetrics> parse_gpu_metrics(std::string_view bytes);

// 5.0 GT/s is generation 2, 64 is 6; nullopt for a speed that PCI Express does not have.
[[nodiscard]] Maybe<std::uint32_t> pcie_generation_of(double giga_transfers);

}  // namespace gpuward::exporter::amd
