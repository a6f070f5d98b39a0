#include "tests/fakes/nvml/scenario_text.h"

#include <cmath>
#include <concepts>
#include <optional>
#include <string_view>

namespace gpuward::fake_nvml {
namespace {

using exporter::EccCounters;
using exporter::Fabric;
using exporter::GpuReading;
using exporter::Link;
using exporter::Maybe;
using exporter::PeerStatus;

class Lines {
 public:
  void text(const std::string& key, std::string_view value) {
    if (!value.empty()) text_.append(key).append(" = ").append(value).append("\n");
  }
  template <std::integral T>
  void number(const std::string& key, const Maybe<T>& value) {
    if (value) text(key, std::to_string(*value));
  }
  // In NVML's unit, of which `factor` make one of ours.
  void number(const std::string& key, const Maybe<double>& value, double factor = 1.0) {
    if (value) text(key, std::to_string(std::llround(*value * factor)));
  }
  [[nodiscard]] const std::string& all() const { return text_; }

 private:
  std::string text_;
};

constexpr double kThousandths = 1e3;
constexpr double kNanoseconds = 1e9;
constexpr double kPercent = 100.0;

void write_identity(const GpuReading& gpu, const std::string& at, Lines& lines) {
  lines.text(at + "pci", gpu.gpu.pci.full());
  lines.text(at + "uuid", gpu.gpu.uuid);
  lines.text(at + "serial", gpu.gpu.serial);
  lines.text(at + "name", gpu.gpu.name);
  lines.text(at + "vbios", gpu.vbios_version);
  lines.text(at + "part_number", gpu.part_number);
  lines.number(at + "minor", gpu.minor_number);
  lines.number(at + "architecture", gpu.architecture);
}

void write_places(const EccCounters::Places& places, const std::string& at, Lines& lines) {
  lines.number(at + ".total", places.total);
  lines.number(at + ".sram", places.sram);
  lines.number(at + ".dram", places.dram);
}

void write_memory_health(const GpuReading& gpu, const std::string& at, Lines& lines) {
  lines.number(at + "ecc.mode", gpu.ecc_enabled);
  lines.number(at + "ecc.pending", gpu.ecc_pending);
  write_places(gpu.ecc.corrected_volatile, at + "ecc.corrected.volatile", lines);
  write_places(gpu.ecc.corrected_aggregate, at + "ecc.corrected.aggregate", lines);
  write_places(gpu.ecc.uncorrected_volatile, at + "ecc.uncorrected.volatile", lines);
  write_places(gpu.ecc.uncorrected_aggregate, at + "ecc.uncorrected.aggregate", lines);
  lines.number(at + "sram.parity", gpu.sram_unc_parity);
  lines.number(at + "sram.secded", gpu.sram_unc_secded);
  lines.number(at + "sram.threshold_exceeded", gpu.sram_threshold_exceeded);
  lines.number(at + "retired.single_bit", gpu.retired.single_bit);
  lines.number(at + "retired.double_bit", gpu.retired.double_bit);
  lines.number(at + "retired.pending", gpu.retired.pending);
  lines.number(at + "rows.correctable", gpu.rows.correctable);
  lines.number(at + "rows.uncorrectable", gpu.rows.uncorrectable);
  lines.number(at + "rows.pending", gpu.rows.pending);
  lines.number(at + "rows.failure", gpu.rows.failure);
  lines.number(at + "rows.banks.max", gpu.rows.banks_max);
  lines.number(at + "rows.banks.high", gpu.rows.banks_high);
  lines.number(at + "rows.banks.partial", gpu.rows.banks_partial);
  lines.number(at + "rows.banks.low", gpu.rows.banks_low);
  lines.number(at + "rows.banks.none", gpu.rows.banks_none);
}

void write_heat(const GpuReading& gpu, const std::string& at, Lines& lines) {
  lines.number(at + "temperature.gpu", gpu.thermals.gpu);
  lines.number(at + "temperature.memory", gpu.thermals.memory);
  lines.number(at + "temperature.margin", gpu.thermals.margin);
  lines.number(at + "temperature.slowdown", gpu.thermals.slowdown_threshold);
  lines.number(at + "temperature.shutdown", gpu.thermals.shutdown_threshold);
  lines.number(at + "temperature.memory_max", gpu.thermals.memory_threshold);
  lines.number(at + "power.usage", gpu.power.usage_watts, kThousandths);
  lines.number(at + "power.enforced_limit", gpu.power.limit_watts, kThousandths);
  lines.number(at + "power.default_limit", gpu.power.default_limit_watts, kThousandths);
  lines.number(at + "power.energy", gpu.power.energy_joules, kThousandths);
  lines.number(at + "slowdown.reasons", gpu.slowdown.reasons);
  lines.number(at + "slowdown.power", gpu.slowdown.power_violation_seconds, kNanoseconds);
  lines.number(at + "slowdown.thermal", gpu.slowdown.thermal_violation_seconds, kNanoseconds);
  lines.number(at + "clock.sm", gpu.sm_clock_mhz);
  lines.number(at + "clock.memory", gpu.memory_clock_mhz);
  lines.number(at + "utilization.gpu", gpu.utilization_ratio, kPercent);
  lines.number(at + "utilization.memory", gpu.memory_utilization_ratio, kPercent);
}

void write_memory(const GpuReading& gpu, const std::string& at, Lines& lines) {
  lines.number(at + "memory.total", gpu.memory_total_bytes);
  lines.number(at + "memory.used", gpu.memory_used_bytes);
  lines.number(at + "memory.free", gpu.memory_free_bytes);
}

void write_modes(const GpuReading& gpu, const std::string& at, Lines& lines) {
  lines.number(at + "field.230", gpu.recovery_action);
  lines.number(at + "persistence", gpu.persistence_mode);
  lines.number(at + "mig.mode", gpu.mig_enabled);
  if (!gpu.mig_instances.empty()) lines.text(at + "mig.max", "7");
  for (std::size_t i = 0; i < gpu.mig_instances.size(); ++i) {
    const std::string instance = at + "mig." + std::to_string(i) + ".";
    lines.text(instance + "uuid", gpu.mig_instances[i].uuid);
    lines.text(instance + "gpu_instance", std::to_string(gpu.mig_instances[i].gpu_instance));
    lines.text(instance + "compute_instance",
               std::to_string(gpu.mig_instances[i].compute_instance));
  }
  if (!gpu.processes) return;
  std::string processes = " ";  // also of none there is a line
  for (const auto& process : *gpu.processes) {
    processes += std::to_string(process.pid) + ":" +
                 (process.used_bytes ? std::to_string(*process.used_bytes) : "0xFFFFFFFFFFFFFFFF") +
                 " ";
  }
  lines.text(at + "processes", processes);
}

void write_link(const Link& link, const std::string& at, Lines& lines) {
  lines.number(at + "active", link.active);
  lines.number(at + "replay", link.replay_errors);
  // One number of the reading has two sources: the counter before NVLink 5, the field from there
  // on.
  lines.number(at + (link.replay_errors ? "recovery" : "recovery_events"), link.recovery_errors);
  lines.number(at + "crc_flit", link.crc_flit_errors);
  lines.number(at + "crc_data", link.crc_data_errors);
  lines.number(at + "symbol_errors", link.symbol_errors);
  lines.number(at + "effective_errors", link.effective_errors);
  lines.text(at + "remote", link.remote_pci_bus_id);
}

void write_fabric(const Fabric& fabric, const std::string& at, Lines& lines) {
  if (!fabric.state) return;
  lines.text(at + "fabric.version", fabric.health_summary ? "3" : fabric.health_mask ? "2" : "1");
  lines.number(at + "fabric.state", fabric.state);
  lines.number(at + "fabric.status", fabric.status);
  lines.number(at + "fabric.health_mask", fabric.health_mask);
  lines.number(at + "fabric.health_summary", fabric.health_summary);
}

void write_links(const GpuReading& gpu, const std::string& at, Lines& lines) {
  lines.number(at + "pcie.generation", gpu.pcie.generation);
  lines.number(at + "pcie.generation_max", gpu.pcie.generation_max);
  lines.number(at + "pcie.width", gpu.pcie.width);
  lines.number(at + "pcie.width_max", gpu.pcie.width_max);
  lines.number(at + "pcie.replays", gpu.pcie.replays);
  write_fabric(gpu.fabric, at, lines);
  if (gpu.links.empty()) return;
  lines.text(at + "nvlink.count", std::to_string(gpu.links.back().number + 1));
  for (const Link& link : gpu.links) {
    write_link(link, at + "nvlink." + std::to_string(link.number) + ".", lines);
  }
}

void write_gpu(const GpuReading& gpu, Lines& lines) {
  const std::string index = std::to_string(gpu.gpu.index);
  const std::string at = "gpu." + index + ".";
  write_identity(gpu, at, lines);
  if (gpu.is_lost) lines.text("fault.*." + index, "15");
  if (!gpu.fault.empty()) lines.text("# gpu " + index + " said", gpu.fault);
  write_memory_health(gpu, at, lines);
  write_heat(gpu, at, lines);
  write_memory(gpu, at, lines);
  write_modes(gpu, at, lines);
  write_links(gpu, at, lines);
}

void write_peer(const PeerStatus& peer, Lines& lines) {
  const std::string pair = std::to_string(peer.from) + "." + std::to_string(peer.to);
  lines.number("p2p." + pair + ".read", peer.read_status);
  lines.number("p2p." + pair + ".write", peer.write_status);
  lines.number("p2p." + pair + ".nvlink", peer.nvlink_status);
  lines.number("topology." + pair, peer.topology);
}

}  // namespace

std::string to_scenario(const exporter::VendorReport& report) {
  Lines lines;
  lines.text("driver_version", report.driver_version);
  lines.text("nvml_version", report.library_version);
  lines.text("count", std::to_string(report.gpus.size()));
  for (const GpuReading& gpu : report.gpus) write_gpu(gpu, lines);
  for (const PeerStatus& peer : report.peers) write_peer(peer, lines);
  return lines.all();
}

}  // namespace gpuward::fake_nvml
