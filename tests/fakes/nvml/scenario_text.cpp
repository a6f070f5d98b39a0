#include "tests/fakes/nvml/scenario_text.h"

#include <cmath>
#include <concepts>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace gpuward::fake_nvml {
namespace {

using exporter::EccCounters;
using exporter::Fabric;
using exporter::GpuReading;
using exporter::Link;
using exporter::Maybe;
using exporter::PeerStatus;

// A line of the scenario, in NVML's unit; `factor` of these make one of gpuward's. No line if the
// reading has no value.
struct Line {
  Line(std::string name, std::string_view value) : key(std::move(name)), text(value) {}
  template <std::integral T>
  Line(std::string name, const Maybe<T>& value)
      : key(std::move(name)), text(value ? std::to_string(*value) : "") {}
  Line(std::string name, const Maybe<double>& value, double factor = 1.0)
      : key(std::move(name)), text(value ? std::to_string(std::llround(*value * factor)) : "") {}

  std::string key, text;
};

// Adds lines to a text, all keys below one prefix.
class Lines {
 public:
  explicit Lines(std::string& text, std::string at = {}) : text_(text), at_(std::move(at)) {}

  [[nodiscard]] Lines below(const std::string& key) const { return Lines(text_, at_ + key + "."); }
  void add(std::initializer_list<Line> lines) {
    for (const Line& line : lines) {
      if (line.text.empty()) continue;
      text_.append(at_).append(line.key).append(" = ").append(line.text).append("\n");
    }
  }

 private:
  std::string& text_;
  std::string at_;
};

constexpr double kThousandths = 1e3;
constexpr double kNanoseconds = 1e9;
constexpr double kPercent = 100.0;

void write_identity(const GpuReading& gpu, Lines lines) {
  lines.add({{"pci", gpu.gpu.pci.full()},
             {"uuid", gpu.gpu.uuid},
             {"serial", gpu.gpu.serial},
             {"name", gpu.gpu.name},
             {"vbios", gpu.vbios_version},
             {"part_number", gpu.part_number},
             {"minor", gpu.minor_number},
             {"architecture", gpu.architecture}});
}

void write_places(const EccCounters::Places& places, Lines lines) {
  lines.add({{"total", places.total}, {"sram", places.sram}, {"dram", places.dram}});
}

void write_memory_health(const GpuReading& gpu, Lines lines) {
  lines.add({{"ecc.mode", gpu.ecc_enabled},
             {"ecc.pending", gpu.ecc_pending},
             {"ecc.default", gpu.ecc_default}});
  write_places(gpu.ecc.corrected_volatile, lines.below("ecc.corrected.volatile"));
  write_places(gpu.ecc.corrected_aggregate, lines.below("ecc.corrected.aggregate"));
  write_places(gpu.ecc.uncorrected_volatile, lines.below("ecc.uncorrected.volatile"));
  write_places(gpu.ecc.uncorrected_aggregate, lines.below("ecc.uncorrected.aggregate"));
  lines.add({{"sram.parity", gpu.sram_unc_parity},
             {"sram.secded", gpu.sram_unc_secded},
             {"sram.threshold_exceeded", gpu.sram_threshold_exceeded},
             {"retired.single_bit", gpu.retired.single_bit},
             {"retired.double_bit", gpu.retired.double_bit},
             {"retired.pending", gpu.retired.pending},
             {"rows.correctable", gpu.rows.correctable},
             {"rows.uncorrectable", gpu.rows.uncorrectable},
             {"rows.pending", gpu.rows.pending},
             {"rows.failure", gpu.rows.failure},
             {"rows.banks.max", gpu.rows.banks_max},
             {"rows.banks.high", gpu.rows.banks_high},
             {"rows.banks.partial", gpu.rows.banks_partial},
             {"rows.banks.low", gpu.rows.banks_low},
             {"rows.banks.none", gpu.rows.banks_none}});
}

void write_heat(const GpuReading& gpu, Lines lines) {
  lines.add({{"temperature.gpu", gpu.thermals.gpu},
             {"temperature.memory", gpu.thermals.memory},
             {"temperature.margin", gpu.thermals.margin},
             {"temperature.shutdown_margin", gpu.thermals.shutdown_margin},
             {"temperature.slowdown_margin", gpu.thermals.slowdown_margin},
             {"temperature.memory_margin", gpu.thermals.memory_margin},
             {"temperature.gpu_margin", gpu.thermals.gpu_margin},
             {"temperature.slowdown", gpu.thermals.slowdown_threshold},
             {"temperature.shutdown", gpu.thermals.shutdown_threshold},
             {"temperature.memory_max", gpu.thermals.memory_threshold},
             {"power.usage", gpu.power.usage_watts, kThousandths},
             {"power.enforced_limit", gpu.power.limit_watts, kThousandths},
             {"power.default_limit", gpu.power.default_limit_watts, kThousandths},
             {"power.energy", gpu.power.energy_joules, kThousandths},
             {"slowdown.reasons", gpu.slowdown.reasons},
             {"slowdown.power", gpu.slowdown.power_violation_seconds, kNanoseconds},
             {"slowdown.thermal", gpu.slowdown.thermal_violation_seconds, kNanoseconds},
             {"clock.sm", gpu.sm_clock_mhz},
             {"clock.memory", gpu.memory_clock_mhz},
             {"utilization.gpu", gpu.utilization_ratio, kPercent},
             {"utilization.memory", gpu.memory_utilization_ratio, kPercent}});
}

void write_memory(const GpuReading& gpu, Lines lines) {
  lines.add({{"memory.total", gpu.memory_total_bytes},
             {"memory.used", gpu.memory_used_bytes},
             {"memory.free", gpu.memory_free_bytes}});
}

void write_modes(const GpuReading& gpu, Lines lines) {
  lines.add({{"field.230", gpu.recovery_action},
             {"persistence", gpu.persistence_mode},
             {"mig.mode", gpu.mig_enabled}});
  if (!gpu.mig_instances.empty()) lines.add({{"mig.max", "7"}});
  for (std::size_t i = 0; i < gpu.mig_instances.size(); ++i) {
    const exporter::MigInstance& mig = gpu.mig_instances[i];
    lines.below("mig." + std::to_string(i))
        .add({{"uuid", mig.uuid},
              {"gpu_instance", std::to_string(mig.gpu_instance)},
              {"compute_instance", std::to_string(mig.compute_instance)}});
  }
  if (!gpu.processes) return;
  std::string processes = " ";  // an empty list has a line too
  for (const auto& process : *gpu.processes) {
    processes += std::to_string(process.pid) + ":" +
                 (process.used_bytes ? std::to_string(*process.used_bytes) : "0xFFFFFFFFFFFFFFFF") +
                 " ";
  }
  lines.add({{"processes", processes}});
}

void write_link(const Link& link, Lines lines) {
  lines.add({{"active", link.active},
             {"replay", link.replay_errors},
             // One number of the reading has two sources: the counter before NVLink 5, the field
             // since then.
             {link.replay_errors ? "recovery" : "recovery_events", link.recovery_errors},
             {"crc_flit", link.crc_flit_errors},
             {"crc_data", link.crc_data_errors},
             {"symbol_errors", link.symbol_errors},
             {"effective_errors", link.effective_errors},
             {"remote", link.remote_pci_bus_id}});
}

void write_fabric(const Fabric& fabric, Lines lines) {
  if (!fabric.state) return;
  const char* const version = fabric.health_summary ? "3" : fabric.health_mask ? "2" : "1";
  lines.add({{"version", version},
             {"state", fabric.state},
             {"status", fabric.status},
             {"health_mask", fabric.health_mask},
             {"health_summary", fabric.health_summary}});
}

void write_links(const GpuReading& gpu, Lines lines) {
  lines.add({{"pcie.generation", gpu.pcie.generation},
             {"pcie.generation_max", gpu.pcie.generation_max},
             {"pcie.width", gpu.pcie.width},
             {"pcie.width_max", gpu.pcie.width_max},
             {"pcie.replays", gpu.pcie.replays}});
  write_fabric(gpu.fabric, lines.below("fabric"));
  if (gpu.links.empty()) return;
  lines.add({{"nvlink.count", std::to_string(gpu.links.back().number + 1)}});
  for (const Link& link : gpu.links) {
    write_link(link, lines.below("nvlink." + std::to_string(link.number)));
  }
}

void write_gpu(const GpuReading& gpu, Lines lines) {
  const std::string index = std::to_string(gpu.gpu.index);
  const Lines own = lines.below("gpu." + index);
  write_identity(gpu, own);
  if (gpu.is_lost) lines.add({{"fault.*." + index, "15"}});
  lines.add({{"# gpu " + index + " said", gpu.fault}});
  write_memory_health(gpu, own);
  write_heat(gpu, own);
  write_memory(gpu, own);
  write_modes(gpu, own);
  write_links(gpu, own);
}

void write_peer(const PeerStatus& peer, Lines lines) {
  const std::string pair = std::to_string(peer.from) + "." + std::to_string(peer.to);
  lines.add({{"p2p." + pair + ".read", peer.read_status},
             {"p2p." + pair + ".write", peer.write_status},
             {"p2p." + pair + ".nvlink", peer.nvlink_status},
             {"topology." + pair, peer.topology}});
}

}  // namespace

std::string to_scenario(const exporter::VendorReading& report) {
  std::string text;
  Lines lines(text);
  lines.add({{"driver_version", report.driver_version},
             {"nvml_version", report.library_version},
             {"count", std::to_string(report.gpus.size())}});
  for (const GpuReading& gpu : report.gpus) write_gpu(gpu, lines);
  for (const PeerStatus& peer : report.peers) write_peer(peer, lines);
  return text;
}

}  // namespace gpuward::fake_nvml
