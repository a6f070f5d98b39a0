#include "exporter/commands/smi_comparison.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/runtime/text.h"
#include "exporter/checks/check/text_table.h"
#include "exporter/publish/families.h"

namespace gpuward::exporter {
namespace {

using std::string_view_literals::operator""sv;
using Words = std::span<const std::string_view>;

constexpr std::string_view kAddress = "pci.bus_id";
constexpr std::string_view kNone = "-";

constexpr std::array kOff{"Disabled"sv, "Enabled"sv};
constexpr std::array kNo{"No"sv, "Yes"sv};
constexpr std::array kInactive{"Not Active"sv, "Active"sv};
constexpr std::array kRecovery{"None"sv, "Reset"sv, "Reboot"sv, "Drain P2P"sv, "Drain and Reset"sv};
constexpr std::array kFabricState{"Not Supported"sv, "Not Started"sv, "In Progress"sv,
                                  "Completed"sv};
constexpr std::array kFabricStatus{"Success"sv};

// A series, and the field of nvidia-smi that should have the same value. Fields and words are those
// of nvidia-smi 590.48.01 on an H100 (github.com/utkuozdemir/nvidia_gpu_exporter,
// internal/nvmlnative).
struct SmiValue {
  std::string_view series, field;
  Words words = {};  // of the field, for 0, 1, ...; empty: a number
  double unit = 1;   // of the field, in the series' unit
  // In the series' unit: nvidia-smi's rounding and the change between two readings.
  double tolerance = 0;
};

constexpr double kMebibyte = 1 << 20;
constexpr double kMegahertz = 1e6;
constexpr double kDegrees = 5;
constexpr double kCents = 0.01;

constexpr auto kValues = std::to_array<SmiValue>({
    {"gpuward_gpu_recovery_action", "gpu_recovery_action", kRecovery},
    {"gpuward_gpu_ecc_enabled", "ecc.mode.current", kOff},
    {"gpuward_gpu_ecc_pending_enabled", "ecc.mode.pending", kOff},
    {"gpuward_gpu_persistence_mode", "persistence_mode", kOff},
    {"gpuward_gpu_mig_enabled", "mig.mode.current", kOff},
    {R"(gpuward_gpu_ecc_errors_total{error="corrected",counter="volatile"})",
     "ecc.errors.corrected.volatile.total"},
    {R"(gpuward_gpu_ecc_errors_total{error="uncorrected",counter="volatile"})",
     "ecc.errors.uncorrected.volatile.total"},
    {R"(gpuward_gpu_ecc_errors_total{error="corrected",counter="aggregate"})",
     "ecc.errors.corrected.aggregate.total"},
    {R"(gpuward_gpu_ecc_errors_total{error="uncorrected",counter="aggregate"})",
     "ecc.errors.uncorrected.aggregate.total"},
    {R"(gpuward_gpu_ecc_memory_errors_total{error="corrected",counter="volatile",memory="sram"})",
     "ecc.errors.corrected.volatile.sram"},
    {R"(gpuward_gpu_ecc_memory_errors_total{error="corrected",counter="volatile",memory="dram"})",
     "ecc.errors.corrected.volatile.dram"},
    {R"(gpuward_gpu_ecc_memory_errors_total{error="uncorrected",counter="volatile",memory="sram"})",
     "ecc.errors.uncorrected.volatile.sram"},
    {R"(gpuward_gpu_ecc_memory_errors_total{error="uncorrected",counter="volatile",memory="dram"})",
     "ecc.errors.uncorrected.volatile.dram"},
    {R"(gpuward_gpu_ecc_memory_errors_total{error="corrected",counter="aggregate",memory="sram"})",
     "ecc.errors.corrected.aggregate.sram"},
    {R"(gpuward_gpu_ecc_memory_errors_total{error="corrected",counter="aggregate",memory="dram"})",
     "ecc.errors.corrected.aggregate.dram"},
    {R"(gpuward_gpu_ecc_memory_errors_total{error="uncorrected",counter="aggregate",memory="sram"})",
     "ecc.errors.uncorrected.aggregate.sram"},
    {R"(gpuward_gpu_ecc_memory_errors_total{error="uncorrected",counter="aggregate",memory="dram"})",
     "ecc.errors.uncorrected.aggregate.dram"},
    {R"(gpuward_gpu_sram_uncorrectable_errors_total{protection="parity"})",
     "ecc.errors.uncorrected.aggregate.sram.parity"},
    {R"(gpuward_gpu_sram_uncorrectable_errors_total{protection="secded"})",
     "ecc.errors.uncorrected.aggregate.sram.secded"},
    {"gpuward_gpu_sram_threshold_exceeded",
     "ecc.errors.uncorrected.aggregate.sram.thresholdExceeded", kNo},
    {R"(gpuward_gpu_retired_pages{error="single_bit"})", "retired_pages.single_bit_ecc.count"},
    {R"(gpuward_gpu_retired_pages{error="double_bit"})", "retired_pages.double_bit.count"},
    {"gpuward_gpu_retired_pages_pending", "retired_pages.pending", kNo},
    {R"(gpuward_gpu_remapped_rows{error="corrected"})", "remapped_rows.correctable"},
    {R"(gpuward_gpu_remapped_rows{error="uncorrected"})", "remapped_rows.uncorrectable"},
    {"gpuward_gpu_remapped_rows_pending", "remapped_rows.pending", kNo},
    {"gpuward_gpu_remapped_rows_failure", "remapped_rows.failure", kNo},
    {R"(gpuward_gpu_remapped_rows_banks{spare_rows="max"})", "remapped_rows.histogram.max"},
    {R"(gpuward_gpu_remapped_rows_banks{spare_rows="high"})", "remapped_rows.histogram.high"},
    {R"(gpuward_gpu_remapped_rows_banks{spare_rows="partial"})", "remapped_rows.histogram.partial"},
    {R"(gpuward_gpu_remapped_rows_banks{spare_rows="low"})", "remapped_rows.histogram.low"},
    {R"(gpuward_gpu_remapped_rows_banks{spare_rows="none"})", "remapped_rows.histogram.none"},
    {"gpuward_gpu_memory_size_bytes", "memory.total", {}, kMebibyte, kMebibyte},
    {"gpuward_gpu_memory_used_bytes", "memory.used", {}, kMebibyte, 64 * kMebibyte},
    {R"(gpuward_gpu_temperature_celsius{sensor="gpu"})", "temperature.gpu", {}, 1, kDegrees},
    {R"(gpuward_gpu_temperature_celsius{sensor="memory"})", "temperature.memory", {}, 1, kDegrees},
    {"gpuward_gpu_temperature_margin_celsius", "temperature.gpu.tlimit", {}, 1, kDegrees},
    {"gpuward_gpu_power_watts", "power.draw", {}, 1, 50},  // average of a second, or the current
                                                           // value
    {"gpuward_gpu_power_limit_watts", "enforced.power.limit", {}, 1, kCents},
    {"gpuward_gpu_power_default_limit_watts", "power.default_limit", {}, 1, kCents},
    {R"(gpuward_gpu_slowdown{reason="sw_power_cap"})", "clocks_event_reasons.sw_power_cap",
     kInactive},
    {R"(gpuward_gpu_slowdown{reason="hw_slowdown"})", "clocks_event_reasons.hw_slowdown",
     kInactive},
    {R"(gpuward_gpu_slowdown{reason="sync_boost"})", "clocks_event_reasons.sync_boost", kInactive},
    {R"(gpuward_gpu_slowdown{reason="sw_thermal"})", "clocks_event_reasons.sw_thermal_slowdown",
     kInactive},
    {R"(gpuward_gpu_slowdown{reason="hw_thermal"})", "clocks_event_reasons.hw_thermal_slowdown",
     kInactive},
    {R"(gpuward_gpu_slowdown{reason="hw_power_brake"})",
     "clocks_event_reasons.hw_power_brake_slowdown", kInactive},
    {R"(gpuward_gpu_clock_hertz{clock="sm"})",
     "clocks.current.sm",
     {},
     kMegahertz,
     500 * kMegahertz},
    {R"(gpuward_gpu_clock_hertz{clock="memory"})",
     "clocks.current.memory",
     {},
     kMegahertz,
     500 * kMegahertz},
    {"gpuward_gpu_pcie_generation", "pcie.link.gen.current"},
    {"gpuward_gpu_pcie_generation_max", "pcie.link.gen.max"},
    {"gpuward_gpu_pcie_link_width", "pcie.link.width.current"},
    {"gpuward_gpu_pcie_link_width_max", "pcie.link.width.max"},
    {"gpuward_gpu_fabric_state", "fabric.state", kFabricState},
    {"gpuward_gpu_fabric_status", "fabric.status", kFabricStatus},
});

// nvidia-smi would show another sample of these.
constexpr std::array kSampled{"gpuward_gpu_utilization_ratio"sv,
                              "gpuward_gpu_memory_utilization_ratio"sv};

// An identifier of a GPU: a label of gpuward_gpu_info.
struct SmiText {
  std::string_view field;
  const std::string& (*text)(const GpuReading& reading);
  bool is_hidden = false;
};
constexpr auto kTexts = std::to_array<SmiText>({
    {"name", [](const GpuReading& r) -> const std::string& { return r.gpu.name; }},
    {"serial", [](const GpuReading& r) -> const std::string& { return r.gpu.serial; }, true},
    {"uuid", [](const GpuReading& r) -> const std::string& { return r.gpu.uuid; }, true},
    {"vbios_version", [](const GpuReading& r) -> const std::string& { return r.vbios_version; }},
});

// True for "[N/A]", "N/A", "[Unknown Error]" and "[Not Supported]": nvidia-smi has no value.
bool is_absent(std::string_view cell) {
  return cell.empty() || cell == "N/A" || cell.front() == '[';
}

std::string hidden(const std::string& text) {
  constexpr std::size_t kShown = 4;
  return text.size() <= kShown ? text : "..." + text.substr(text.size() - kShown);
}

std::string to_text(double value) {
  std::array<char, 400> buffer{};  // of the largest double, in digits
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  return {buffer.data(), end.ptr};
}

std::string series_text(const metrics::Family& family, const metrics::Sample& sample,
                        std::size_t labels_of_gpu) {
  std::string labels;
  for (std::size_t i = labels_of_gpu; i < sample.labels.size(); ++i) {
    labels += labels.empty() ? "{" : ",";
    labels.append(family.declared.labels.at(i)).append("=\"").append(sample.labels[i]).append("\"");
  }
  return family.name + (labels.empty() ? "" : labels + "}");
}

using Series = std::pair<std::string, double>;
// The published series of each GPU, by its bus id, in the order of the page.
using Published = std::map<std::string, std::vector<Series>>;

Published published(const VendorReading& report) {
  Snapshot snapshot;
  snapshot.telemetry.state = WorkerState::kAnswering;
  snapshot.telemetry.report = std::make_shared<const GpuReport>(GpuReport{{report}});
  Families families;
  append_gpu_families(snapshot, {}, families);
  Published all;
  constexpr std::size_t kLabels = 3;  // gpu, uuid, pci_bus_id
  for (const metrics::Family& family : families) {
    for (const metrics::Sample& sample : family.samples) {
      all[sample.labels[kLabels - 1]].emplace_back(series_text(family, sample, kLabels),
                                                   sample.value);
    }
  }
  return all;
}

std::optional<double> value_in(const std::vector<Series>& all, std::string_view series) {
  const auto found = std::ranges::find(all, series, &Series::first);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> number_in(const SmiValue& value, std::string_view cell) {
  if (value.words.empty()) {
    const auto number = decimal(cell);
    return number ? std::optional(*number * value.unit) : std::nullopt;
  }
  const auto word = std::ranges::find(value.words, cell);
  if (word == value.words.end()) return std::nullopt;
  return static_cast<double>(word - value.words.begin());
}

// Compares one GPU. nvidia-smi may have no value for it at all.
class GpuComparison {
 public:
  GpuComparison(std::string gpu, const SmiReading& smi, const std::string& bus_id,
                std::vector<ComparedValue>& rows)
      : gpu_(std::move(gpu)), smi_(smi), rows_(rows) {
    const auto found = smi.gpus.find(bus_id);
    if (found != smi.gpus.end()) cells_ = &found->second;
  }

  // Compares whether both list this GPU.
  void add_address(const std::string& bus_id) {
    add("pci_bus_id", bus_id, cells_ != nullptr ? bus_id : "",
        smi_.fault.empty() ? cells_ != nullptr ? Agreement::kSame : Agreement::kDiffers
                           : Agreement::kNotCompared,
        smi_.fault);
  }
  void add_text(const SmiText& text, const std::string& nvml) {
    const std::string cell = cell_of(text.field);
    const std::string why = objection(text.field, cell);
    if (nvml.empty() && is_absent(cell)) return;
    const auto shown = [&](const std::string& whole) {
      return text.is_hidden ? hidden(whole) : whole;
    };
    add(std::string(text.field), shown(nvml), is_absent(cell) ? cell : shown(cell),
        !why.empty()   ? Agreement::kNotCompared
        : nvml == cell ? Agreement::kSame
                       : Agreement::kDiffers,
        why);
  }
  void add_number(const SmiValue& value, std::optional<double> before,
                  std::optional<double> after) {
    const std::string cell = cell_of(value.field);
    const std::string nvml = after ? to_text(*after) : "";
    std::string why = objection(value.field, cell);
    const auto smi = why.empty() ? number_in(value, cell) : std::nullopt;
    if (!after && !smi) return;
    if (why.empty() && !smi) why = "gpuward cannot parse this value from nvidia-smi";
    if (!smi) return add(std::string(value.series), nvml, cell, Agreement::kNotCompared, why);
    if (!after || !before) {
      const bool has_moved = before.has_value() != after.has_value();
      return add(
          std::string(value.series), nvml, cell,
          has_moved ? Agreement::kNotCompared : Agreement::kDiffers,
          has_moved ? "NVML reported it in only one of two readings" : "gpuward has no value");
    }
    const auto [low, high] = std::minmax(*before, *after);
    const bool is_between = low <= *smi && *smi <= high;
    const bool is_near = low - value.tolerance <= *smi && *smi <= high + value.tolerance;
    add(std::string(value.series), nvml, cell, is_near ? Agreement::kSame : Agreement::kDiffers,
        is_near && !is_between ? "within " + to_text(value.tolerance) : "");
  }
  void add(std::string value, const std::string& nvml, const std::string& smi, Agreement agreement,
           std::string why) {
    const auto shown = [](const std::string& text) {
      return text.empty() ? std::string(kNone) : text;
    };
    rows_.push_back({gpu_, std::move(value), shown(nvml), shown(smi), agreement, std::move(why)});
  }

 private:
  [[nodiscard]] std::string cell_of(std::string_view field) const {
    if (cells_ == nullptr) return {};
    const auto found = cells_->find(field);
    return found == cells_->end() ? std::string() : found->second;
  }
  // Returns why a field cannot be compared; empty if it can.
  [[nodiscard]] std::string objection(std::string_view field, std::string_view cell) const {
    if (!smi_.fault.empty()) return smi_.fault;
    if (cells_ == nullptr) return "nvidia-smi does not list this GPU";
    if (!cells_->contains(field)) return "this nvidia-smi has no field " + std::string(field);
    return is_absent(cell) ? "nvidia-smi has no value" : "";
  }

  std::string gpu_;
  const SmiReading& smi_;
  const std::map<std::string, std::string, std::less<>>* cells_ = nullptr;
  std::vector<ComparedValue>& rows_;
};

void compare_gpu(const GpuReading& reading, const std::vector<Series>& before,
                 const std::vector<Series>& after, GpuComparison& gpu) {
  for (const SmiText& text : kTexts) gpu.add_text(text, text.text(reading));
  for (const auto& [series, number] : after) {
    if (std::ranges::find(kValues, series, &SmiValue::series) != kValues.end()) continue;
    const bool is_sampled = std::ranges::find(kSampled, series) != kSampled.end();
    gpu.add(series, to_text(number), "", Agreement::kNotCompared,
            is_sampled ? "each reading is a new sample" : "nvidia-smi has no such field");
  }
  for (const SmiValue& value : kValues)
    gpu.add_number(value, value_in(before, value.series), value_in(after, value.series));
}

std::vector<std::string> cells_in(std::string_view line) {
  constexpr std::string_view kBetween = ", ";
  std::vector<std::string> cells;
  for (;;) {
    const auto end = line.find(kBetween);
    cells.emplace_back(trim(line.substr(0, end)));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + kBetween.size());
  }
}

}  // namespace

std::vector<std::string> smi_fields(std::string_view help) {
  std::vector<std::string> fields{std::string(kAddress)};
  const auto take = [&](std::string_view field) {
    if (help.contains("\"" + std::string(field) + "\"")) fields.emplace_back(field);
  };
  for (const SmiText& text : kTexts) take(text.field);
  for (const SmiValue& value : kValues) take(value.field);
  return fields;
}

SmiReading parse_smi(const std::vector<std::string>& fields, std::string_view csv) {
  SmiReading reading;
  for_each_line(csv, [&](std::string_view line) {
    const auto cells = cells_in(line);
    const auto address = parse_pci_address(cells.front());
    if (!address || cells.size() != fields.size()) return;
    auto& gpu = reading.gpus[address->bus_id()];
    for (std::size_t i = 0; i < fields.size(); ++i) gpu[fields[i]] = cells[i];
  });
  return reading;
}

std::vector<ComparedValue> compare_with_smi(const VendorReading& before, const SmiReading& smi,
                                            const VendorReading& after) {
  std::vector<ComparedValue> rows;
  const Published first = published(before);
  const Published last = published(after);
  for (const GpuReading& reading : after.gpus) {
    const std::string index = std::to_string(reading.gpu.index);
    const std::string bus_id = reading.gpu.has_address() ? reading.gpu.pci.bus_id() : "";
    if (bus_id.empty() || !reading.fault.empty()) {
      rows.push_back(
          {index, "pci_bus_id", bus_id.empty() ? std::string(kNone) : bus_id, std::string(kNone),
           Agreement::kNotCompared,
           reading.fault.empty() ? "NVML reports no PCI address for this GPU" : reading.fault});
      continue;
    }
    GpuComparison gpu(index, smi, bus_id, rows);
    gpu.add_address(bus_id);
    const auto earlier = first.find(bus_id);
    compare_gpu(reading, earlier == first.end() ? std::vector<Series>{} : earlier->second,
                last.at(bus_id), gpu);
  }
  for (const auto& [bus_id, cells] : smi.gpus) {
    if (!last.contains(bus_id))
      rows.push_back({std::string(kNone), "pci_bus_id", std::string(kNone), bus_id,
                      Agreement::kDiffers, "NVML does not list this GPU"});
  }
  return rows;
}

}  // namespace gpuward::exporter
