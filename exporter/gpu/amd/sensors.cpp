#include "exporter/gpu/amd/sensors.h"

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "core/runtime/text.h"
#include "exporter/gpu/amd/gpu_metrics.h"
#include "exporter/gpu/amd/sysfs.h"

namespace gpuward::exporter::amd {
namespace {

namespace fs = std::filesystem;

// Kernel, Documentation/hwmon/sysfs-interface.rst: millidegrees, microwatts, hertz.
constexpr double kMilli = 1e-3, kMicro = 1e-6;
constexpr std::uint32_t kMostLanes = 32;  // PCI Express has no wider link

Maybe<double> scaled(const fs::path& path, double unit) {
  const auto text = read_attribute(path);
  const auto number = text ? parse_integer<std::int64_t>(*text) : std::nullopt;
  return number ? Maybe<double>(static_cast<double>(*number) * unit) : std::nullopt;
}

// In critical temperatures and power caps, 0 means "no limit known".
Maybe<double> limit(const fs::path& path, double unit) {
  const auto value = scaled(path, unit);
  return value && *value > 0 ? value : std::nullopt;
}

void keep(Maybe<double>& field, const Maybe<double>& value) {
  if (value) field = value;
}

// `edge`, `junction` and `mem` are usually temp1 to temp3, but not on every GPU.
void read_temperature(const fs::path& hwmon, const std::string& sensor, Thermals& thermals) {
  const std::string label = read_word(hwmon / (sensor + "_label"));
  const auto celsius = scaled(hwmon / (sensor + "_input"), kMilli);
  if (label == "edge") keep(thermals.gpu, celsius);
  if (label == "junction") {
    keep(thermals.hotspot, celsius);
    keep(thermals.slowdown_threshold, limit(hwmon / (sensor + "_crit"), kMilli));
    keep(thermals.shutdown_threshold, limit(hwmon / (sensor + "_emergency"), kMilli));
  }
  if (label == "mem") {
    keep(thermals.memory, celsius);
    keep(thermals.memory_threshold, limit(hwmon / (sensor + "_crit"), kMilli));
  }
}

void read_clock(const fs::path& hwmon, const std::string& sensor, GpuReading& reading) {
  const std::string label = read_word(hwmon / (sensor + "_label"));
  const auto megahertz = scaled(hwmon / (sensor + "_input"), kMicro);
  if (label == "sclk") keep(reading.sm_clock_mhz, megahertz);
  if (label == "mclk") keep(reading.memory_clock_mhz, megahertz);
}

void read_sensors(const fs::path& hwmon, GpuReading& reading) {
  for (const char* const sensor : {"temp1", "temp2", "temp3"}) {
    read_temperature(hwmon, sensor, reading.thermals);
  }
  for (const char* const sensor : {"freq1", "freq2"}) read_clock(hwmon, sensor, reading);
  Power& power = reading.power;
  keep(power.usage_watts, scaled(hwmon / "power1_input", kMicro));
  keep(power.usage_watts, scaled(hwmon / "power1_average", kMicro));
  keep(power.limit_watts, limit(hwmon / "power1_cap", kMicro));
  keep(power.default_limit_watts, limit(hwmon / "power1_cap_default", kMicro));
}

// `32.0 GT/s PCIe`; `Unknown` if the link is down.
Maybe<std::uint32_t> read_generation(const fs::path& path) {
  const auto text = read_attribute(path);
  if (!text) return std::nullopt;
  double speed = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), speed);
  const std::string_view unit(end, static_cast<std::size_t>(text->data() + text->size() - end));
  if (error != std::errc{} || !unit.starts_with(" GT/s")) return std::nullopt;
  return pcie_generation_of(speed);
}

Maybe<std::uint32_t> read_width(const fs::path& path) {
  const auto width = read_number(path);
  if (!width || *width == 0 || *width > kMostLanes) return std::nullopt;
  return static_cast<std::uint32_t>(*width);
}

}  // namespace

void read_hwmon(const fs::path& device, GpuReading& reading) {
  for (const std::string& name : list_names(device / "hwmon")) {
    if (name.starts_with("hwmon")) read_sensors(device / "hwmon" / name, reading);
  }
}

Pcie read_pcie(const fs::path& device) {
  Pcie pcie;
  pcie.generation = read_generation(device / "current_link_speed");
  pcie.generation_max = read_generation(device / "max_link_speed");
  pcie.width = read_width(device / "current_link_width");
  pcie.width_max = read_width(device / "max_link_width");
  pcie.replays = read_number(device / "pcie_replay_count");
  return pcie;
}

}  // namespace gpuward::exporter::amd
