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

// A GPU with limits in degrees needs no second series for each limit.
Maybe<double> unless(const Maybe<double>& degrees, const Maybe<double>& margin) {
  return degrees ? std::nullopt : margin;
}

constexpr auto kHeatAndPower = std::to_array<ReadingColumn>({
    {.family = {"gpuward_gpu_temperature_celsius",
                "Temperature: `gpu`, `memory`, `hotspot`.",
                kGauge,
                {"sensor"}},
     .labels = {"gpu"},
     .value = [](Reading r) { return r.thermals.gpu; }},
    {.labels = {"memory"}, .value = [](Reading r) { return r.thermals.memory; }},
    {.labels = {"hotspot"}, .value = [](Reading r) { return r.thermals.hotspot; }},
    {.family = {"gpuward_gpu_temperature_margin_celsius",
                "How much hotter the GPU may become before it slows down."},
     .value = [](Reading r) { return r.thermals.margin; }},
    {.family = {"gpuward_gpu_temperature_margin_threshold_celsius",
                "Margins (NVML's T.Limit) at or below which the GPU slows down (`slowdown`) or "
                "shuts down (`shutdown`), and the lowest margins at which the GPU (`gpu`) and its "
                "memory (`memory`) may work. Negative values are possible.",
                kGauge,
                {"threshold"},
                "when the driver does not report it; all but `slowdown` also when the driver "
                "reports the thresholds in degrees"},
     .labels = {"slowdown"},
     .value = [](Reading r) { return r.thermals.slowdown_margin; }},
    {.labels = {"shutdown"},
     .value =
         [](Reading r) {
           return unless(r.thermals.shutdown_threshold, r.thermals.shutdown_margin);
         }},
    {.labels = {"memory"},
     .value =
         [](Reading r) { return unless(r.thermals.memory_threshold, r.thermals.memory_margin); }},
    {.labels = {"gpu"},
     .value =
         [](Reading r) { return unless(r.thermals.slowdown_threshold, r.thermals.gpu_margin); }},
    {.family = {"gpuward_gpu_temperature_threshold_celsius",
                "Temperature at which the GPU slows down (`slowdown`) or shuts down (`shutdown`), "
                "and the highest at which its memory may work (`memory`).",
                kGauge,
                {"threshold"}},
     .labels = {"slowdown"},
     .value = [](Reading r) { return r.thermals.slowdown_threshold; }},
    {.labels = {"shutdown"}, .value = [](Reading r) { return r.thermals.shutdown_threshold; }},
    {.labels = {"memory"}, .value = [](Reading r) { return r.thermals.memory_threshold; }},
    {.family = {"gpuward_gpu_power_watts", "Power draw."},
     .value = [](Reading r) { return r.power.usage_watts; }},
    {.family = {"gpuward_gpu_power_limit_watts", "Power limit in force."},
     .value = [](Reading r) { return r.power.limit_watts; }},
    {.family = {"gpuward_gpu_power_default_limit_watts", "Default power limit of the board."},
     .value = [](Reading r) { return r.power.default_limit_watts; }},
    {.family = {"gpuward_gpu_energy_joules_total", "Energy used since the driver was loaded.",
                kCounter},
     .value = [](Reading r) { return r.power.energy_joules; }},
});

// Leaves out the reasons that do not concern the board's health (idle, clocks set by an application
// or for a display).
constexpr auto kSlowdowns = std::to_array<ReadingColumn>({
    {.family = {"gpuward_gpu_slowdown",
                "Whether the GPU is throttled for this reason: `sw_power_cap`, `hw_slowdown`, "
                "`sync_boost`, `sw_thermal`, `hw_thermal`, `hw_power_brake`. The reasons for idle "
                "clocks and for clocks set by an application are left out.",
                kGauge,
                {"reason"}},
     .labels = {"sw_power_cap"},
     .value = &has_reason<0x4>},
    {.labels = {"hw_slowdown"}, .value = &has_reason<0x8>},
    {.labels = {"sync_boost"}, .value = &has_reason<0x10>},
    {.labels = {"sw_thermal"}, .value = &has_reason<0x20>},
    {.labels = {"hw_thermal"}, .value = &has_reason<0x40>},
    {.labels = {"hw_power_brake"}, .value = &has_reason<0x80>},
    {.family = {"gpuward_gpu_slowdown_seconds_total",
                "How long `power` or `thermal` limits have throttled the GPU since the driver was "
                "loaded.",
                kCounter,
                {"reason"}},
     .labels = {"power"},
     .value = [](Reading r) { return r.slowdown.power_violation_seconds; }},
    {.labels = {"thermal"},
     .value = [](Reading r) { return r.slowdown.thermal_violation_seconds; }},
});

constexpr auto kWork = std::to_array<ReadingColumn>({
    {.family = {"gpuward_gpu_clock_hertz", "Clock frequency: `sm`, `memory`.", kGauge, {"clock"}},
     .labels = {"sm"},
     .value = [](Reading r) { return hertz(r.sm_clock_mhz); }},
    {.labels = {"memory"}, .value = [](Reading r) { return hertz(r.memory_clock_mhz); }},
    {.family = {"gpuward_gpu_utilization_ratio",
                "Share of the driver's last sample in which the GPU had work, 0 to 1."},
     .value = [](Reading r) { return r.utilization_ratio; }},
    {.family = {"gpuward_gpu_memory_utilization_ratio",
                "Share of the driver's last sample in which memory was read or written, 0 to 1."},
     .value = [](Reading r) { return r.memory_utilization_ratio; }},
    {.family = {"gpuward_gpu_pcie_generation",
                "PCIe generation of the link now; lower while the GPU is idle."},
     .value = [](Reading r) { return number(r.pcie.generation); }},
    {.family = {"gpuward_gpu_pcie_generation_max",
                "Highest PCIe generation that both the GPU and the slot support."},
     .value = [](Reading r) { return number(r.pcie.generation_max); }},
    {.family = {"gpuward_gpu_pcie_link_width", "PCIe lanes in use."},
     .value = [](Reading r) { return number(r.pcie.width); }},
    {.family = {"gpuward_gpu_pcie_link_width_max",
                "Maximum number of PCIe lanes that both the GPU and the slot support."},
     .value = [](Reading r) { return number(r.pcie.width_max); }},
    {.family = {"gpuward_gpu_pcie_replays_total", "PCIe packets that had to be sent again.",
                kCounter},
     .value = [](Reading r) { return number(r.pcie.replays); }},
});

}  // namespace

void append_gpu_load_families(const LabelledReadings& readings, Families& families) {
  append_columns(kHeatAndPower, readings, families);
  append_columns(kSlowdowns, readings, families);
  append_columns(kWork, readings, families);
}

}  // namespace gpuward::exporter
