#include <array>

#include "exporter/publish/families_gpu.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;
using Reading = const GpuReading&;

constexpr double kHertzInMegahertz = 1e6;

// A bit of NVML's clocks event reasons (nvml.h, nvmlClocksEventReason*).
template <std::uint64_t kBit>
Maybe<double> has_reason(Reading reading) {
  if (!reading.slowdown.reasons) return std::nullopt;
  return (*reading.slowdown.reasons & kBit) != 0 ? 1 : 0;
}

Maybe<double> hertz(const Maybe<double>& megahertz) {
  if (!megahertz) return std::nullopt;
  return *megahertz * kHertzInMegahertz;
}

constexpr std::string_view kTemperature = "gpuward_gpu_temperature_celsius";
// A GPU that has its limits in degrees needs no second series of each.
Maybe<double> unless(const Maybe<double>& degrees, const Maybe<double>& margin) {
  return degrees ? std::nullopt : margin;
}

constexpr std::string_view kMarginThreshold = "gpuward_gpu_temperature_margin_threshold_celsius";
constexpr std::string_view kThreshold = "gpuward_gpu_temperature_threshold_celsius";

constexpr std::array kHeatAndPower{
    ReadingColumn{
        .name = kTemperature,
        .labels = {FixedLabel{"sensor", "gpu"}},
        .value = [](Reading r) { return r.thermals.gpu; },
        .help = "Temperature at the newest reading.",
    },
    ReadingColumn{
        .name = kTemperature,
        .labels = {FixedLabel{"sensor", "memory"}},
        .value = [](Reading r) { return r.thermals.memory; },
    },
    ReadingColumn{
        .name = kTemperature,
        .labels = {FixedLabel{"sensor", "hotspot"}},
        .value = [](Reading r) { return r.thermals.hotspot; },
    },
    ReadingColumn{
        .name = "gpuward_gpu_temperature_margin_celsius",
        .labels = {},
        .value = [](Reading r) { return r.thermals.margin; },
        .help = "How much hotter the GPU may become before it slows down.",
    },
    ReadingColumn{
        .name = kMarginThreshold,
        .labels = {FixedLabel{"threshold", "slowdown"}},
        .value = [](Reading r) { return r.thermals.slowdown_margin; },
        .help = "Margins at or below which the GPU slows down or shuts down, and the least that it "
                "and its memory may work at.",
    },
    ReadingColumn{
        .name = kMarginThreshold,
        .labels = {FixedLabel{"threshold", "shutdown"}},
        .value =
            [](Reading r) {
              return unless(r.thermals.shutdown_threshold, r.thermals.shutdown_margin);
            },
    },
    ReadingColumn{
        .name = kMarginThreshold,
        .labels = {FixedLabel{"threshold", "memory"}},
        .value =
            [](Reading r) { return unless(r.thermals.memory_threshold, r.thermals.memory_margin); },
    },
    ReadingColumn{
        .name = kMarginThreshold,
        .labels = {FixedLabel{"threshold", "gpu"}},
        .value =
            [](Reading r) { return unless(r.thermals.slowdown_threshold, r.thermals.gpu_margin); },
    },
    ReadingColumn{
        .name = kThreshold,
        .labels = {FixedLabel{"threshold", "slowdown"}},
        .value = [](Reading r) { return r.thermals.slowdown_threshold; },
        .help = "Temperatures at which the GPU slows down or shuts down, and the highest at which "
                "its memory may work.",
    },
    ReadingColumn{
        .name = kThreshold,
        .labels = {FixedLabel{"threshold", "shutdown"}},
        .value = [](Reading r) { return r.thermals.shutdown_threshold; },
    },
    ReadingColumn{
        .name = kThreshold,
        .labels = {FixedLabel{"threshold", "memory"}},
        .value = [](Reading r) { return r.thermals.memory_threshold; },
    },
    ReadingColumn{
        .name = "gpuward_gpu_power_watts",
        .labels = {},
        .value = [](Reading r) { return r.power.usage_watts; },
        .help = "Power draw at the newest reading.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_power_limit_watts",
        .labels = {},
        .value = [](Reading r) { return r.power.limit_watts; },
        .help = "Power limit in force.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_power_default_limit_watts",
        .labels = {},
        .value = [](Reading r) { return r.power.default_limit_watts; },
        .help = "Power limit that the board has of itself.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_energy_joules_total",
        .type = kCounter,
        .labels = {},
        .value = [](Reading r) { return r.power.energy_joules; },
        .help = "Energy used since the driver was loaded.",
    },
};

constexpr std::string_view kSlowdown = "gpuward_gpu_slowdown";

// Reasons that say nothing of the board's health (idle, clocks set by an application or for a
// display) are left out.
constexpr std::array kSlowdowns{
    ReadingColumn{
        .name = kSlowdown,
        .labels = {FixedLabel{"reason", "sw_power_cap"}},
        .value = &has_reason<0x4>,
        .help = "Whether the GPU is held back for this reason.",
    },
    ReadingColumn{
        .name = kSlowdown,
        .labels = {FixedLabel{"reason", "hw_slowdown"}},
        .value = &has_reason<0x8>,
    },
    ReadingColumn{
        .name = kSlowdown,
        .labels = {FixedLabel{"reason", "sync_boost"}},
        .value = &has_reason<0x10>,
    },
    ReadingColumn{
        .name = kSlowdown,
        .labels = {FixedLabel{"reason", "sw_thermal"}},
        .value = &has_reason<0x20>,
    },
    ReadingColumn{
        .name = kSlowdown,
        .labels = {FixedLabel{"reason", "hw_thermal"}},
        .value = &has_reason<0x40>,
    },
    ReadingColumn{
        .name = kSlowdown,
        .labels = {FixedLabel{"reason", "hw_power_brake"}},
        .value = &has_reason<0x80>,
    },
    ReadingColumn{
        .name = "gpuward_gpu_slowdown_seconds_total",
        .type = kCounter,
        .labels = {FixedLabel{"reason", "power"}},
        .value = [](Reading r) { return r.slowdown.power_violation_seconds; },
        .help = "For how long power or heat have held the GPU back since the driver was loaded.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_slowdown_seconds_total",
        .type = kCounter,
        .labels = {FixedLabel{"reason", "thermal"}},
        .value = [](Reading r) { return r.slowdown.thermal_violation_seconds; },
    },
};

constexpr std::array kWork{
    ReadingColumn{
        .name = "gpuward_gpu_clock_hertz",
        .labels = {FixedLabel{"clock", "sm"}},
        .value = [](Reading r) { return hertz(r.sm_clock_mhz); },
        .help = "Clock frequency at the newest reading.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_clock_hertz",
        .labels = {FixedLabel{"clock", "memory"}},
        .value = [](Reading r) { return hertz(r.memory_clock_mhz); },
    },
    ReadingColumn{
        .name = "gpuward_gpu_utilization_ratio",
        .labels = {},
        .value = [](Reading r) { return r.utilization_ratio; },
        .help = "Part of the driver's last sample in which the GPU had work, 0 to 1.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_memory_utilization_ratio",
        .labels = {},
        .value = [](Reading r) { return r.memory_utilization_ratio; },
        .help = "Part of the driver's last sample in which memory was read or written, 0 to 1.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_pcie_generation",
        .labels = {},
        .value = [](Reading r) { return number(r.pcie.generation); },
        .help = "PCIe generation of the link now; lower while the GPU is idle.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_pcie_generation_max",
        .labels = {},
        .value = [](Reading r) { return number(r.pcie.generation_max); },
        .help = "Highest PCIe generation that GPU and slot have in common.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_pcie_link_width",
        .labels = {},
        .value = [](Reading r) { return number(r.pcie.width); },
        .help = "PCIe lanes in use.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_pcie_link_width_max",
        .labels = {},
        .value = [](Reading r) { return number(r.pcie.width_max); },
        .help = "Most PCIe lanes that GPU and slot have in common.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_pcie_replays_total",
        .type = kCounter,
        .labels = {},
        .value = [](Reading r) { return number(r.pcie.replays); },
        .help = "PCIe packets that had to be sent again.",
    },
};

}  // namespace

void append_gpu_load_families(std::span<const LabelledReading> readings, Families& families) {
  append_columns(kHeatAndPower, readings, families);
  append_columns(kSlowdowns, readings, families);
  append_columns(kWork, readings, families);
}

}  // namespace gpuward::exporter
