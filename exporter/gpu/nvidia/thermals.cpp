#include <algorithm>

#include "exporter/gpu/nvidia/field_values.h"
#include "exporter/gpu/nvidia/readings.h"

namespace gpuward::exporter::nvml {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

Maybe<double> to_double(Maybe<std::uint64_t> number) {
  if (!number) return std::nullopt;
  return static_cast<double>(*number);
}

Maybe<double> to_double(Maybe<std::uint32_t> number) {
  if (!number) return std::nullopt;
  return static_cast<double>(*number);
}

Maybe<double> read_celsius(DeviceQuery& query) {
  Temperature newer{version_word<Temperature>(1), kSensorGpu, 0};
  if (query.tells(query.symbols().temperature_v, &newer)) return celsius_from(newer.celsius);
  std::uint32_t older = 0;
  if (!query.tells(query.symbols().temperature, kSensorGpu, &older)) return std::nullopt;
  return celsius_from(static_cast<std::int32_t>(older));
}

Maybe<double> read_margin(DeviceQuery& query) {
  MarginTemperature margin{version_word<MarginTemperature>(1), 0};
  if (!query.tells(query.symbols().margin, &margin)) return std::nullopt;
  return celsius_from(margin.celsius);
}

Maybe<double> read_threshold(DeviceQuery& query, I32 kind) {
  return to_double(query.number(query.symbols().threshold, kind));
}

// The function is deprecated since NVML 13; the field has the same counter.
Maybe<double> read_violation(DeviceQuery& query, I32 policy, std::uint32_t field) {
  ViolationTime time{};
  const bool is_known = query.tells(query.symbols().violation, policy, &time);
  const auto nanoseconds =
      is_known ? number_from(time.violation_nanoseconds) : read_field(query, field);
  if (!nanoseconds) return std::nullopt;
  return static_cast<double>(*nanoseconds) / kNanosecondsPerSecond;
}

void read_margins(DeviceQuery& query, KnownDevice& known, Thermals& thermals) {
  if (query.is_thorough()) {
    constexpr std::array kFields{FieldKey{kFieldShutdownMargin}, FieldKey{kFieldSlowdownMargin},
                                 FieldKey{kFieldMemoryMargin}, FieldKey{kFieldGpuMargin}};
    std::ranges::copy(read_celsius_fields(query, kFields), known.margins.begin());
  }
  thermals.shutdown_margin = known.margins[0];
  thermals.slowdown_margin = known.margins[1];
  thermals.memory_margin = known.margins[2];
  thermals.gpu_margin = known.margins[3];
}

Maybe<double> read_watts(DeviceQuery& query, const Number32Call& function) {
  return from_thousandths(query.number(function));
}

}  // namespace

void read_temperature(DeviceQuery& query, KnownDevice& known, GpuReading& reading) {
  Thermals& thermals = reading.thermals;
  thermals.gpu = read_celsius(query);
  thermals.memory = to_double(read_field(query, kFieldMemoryTemperature));
  thermals.margin = read_margin(query);
  read_margins(query, known, thermals);
  if (!query.is_thorough()) {
    const Thermals& rare = known.rare->thermals;
    thermals.slowdown_threshold = rare.slowdown_threshold;
    thermals.shutdown_threshold = rare.shutdown_threshold;
    thermals.memory_threshold = rare.memory_threshold;
    return;
  }
  thermals.slowdown_threshold = read_threshold(query, kThresholdSlowdown);
  thermals.shutdown_threshold = read_threshold(query, kThresholdShutdown);
  thermals.memory_threshold = read_threshold(query, kThresholdMemoryMax);
}

void read_power(DeviceQuery& query, KnownDevice& known, GpuReading& reading) {
  const Symbols& nvml = query.symbols();
  reading.power.usage_watts = read_watts(query, nvml.power_usage);
  reading.power.limit_watts = read_watts(query, nvml.enforced_limit);
  if (!reading.power.limit_watts) reading.power.limit_watts = read_watts(query, nvml.power_limit);
  reading.power.default_limit_watts = query.is_thorough() ? read_watts(query, nvml.default_limit)
                                                          : known.rare->power.default_limit_watts;
  reading.power.energy_joules = from_thousandths(query.number(nvml.energy));
}

void read_slowdown(DeviceQuery& query, KnownDevice&, GpuReading& reading) {
  const Symbols& nvml = query.symbols();
  Slowdown& slowdown = reading.slowdown;
  slowdown.reasons = query.number(nvml.event_reasons);
  if (!slowdown.reasons) slowdown.reasons = query.number(nvml.throttle_reasons);  // before R535
  slowdown.power_violation_seconds = read_violation(query, kPolicyPower, kFieldPolicyPower);
  slowdown.thermal_violation_seconds = read_violation(query, kPolicyThermal, kFieldPolicyThermal);
}

void read_clocks(DeviceQuery& query, KnownDevice&, GpuReading& reading) {
  const Symbols& nvml = query.symbols();
  reading.sm_clock_mhz = to_double(query.number(nvml.clock, kClockSm));
  reading.memory_clock_mhz = to_double(query.number(nvml.clock, kClockMemory));
  Utilization load{};
  if (!query.tells(nvml.utilization, &load)) return;
  reading.utilization_ratio = ratio_from_percent(load.gpu);
  reading.memory_utilization_ratio = ratio_from_percent(load.memory);
}

}  // namespace gpuward::exporter::nvml
