// GPUs that cannot be reached or are missing, and a driver that does not answer. Each of these is
// above monitor only if two sources agree (second_source.h).
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exporter/checks/check/standing.h"
#include "exporter/checks/rules/expected_gpus.h"
#include "exporter/checks/rules/gpu_rules.h"
#include "exporter/checks/rules/second_source.h"

namespace gpuward::exporter {
namespace {

std::set<std::string> bus_ids_of(const VendorReading& report) {
  std::set<std::string> ids;
  for (const GpuReading& reading : report.gpus) ids.insert(reading.gpu.pci.bus_id());
  return ids;
}

// Returns "8 reported by the driver, 7 on the PCI bus".
std::string counts_text(std::optional<std::size_t> driver, std::optional<std::size_t> bus) {
  const auto text = [](std::optional<std::size_t> count) {
    return count ? std::to_string(*count) : std::string("unknown");
  };
  return text(driver) + " reported by the driver, " + text(bus) + " on the PCI bus";
}

std::vector<PciGpu> unknown_to_driver(const VendorReading& report, const std::vector<PciGpu>& bus) {
  const std::set<std::string> known = bus_ids_of(report);
  std::vector<PciGpu> unknown;
  std::ranges::copy_if(bus, std::back_inserter(unknown), [&](const PciGpu& gpu) {
    return gpu.vendor == report.vendor && !known.contains(gpu.bus_id) && !gpu.is_given_away();
  });
  return unknown;
}

std::size_t count_without_address(const VendorReading& report) {
  return static_cast<std::size_t>(std::ranges::count_if(
      report.gpus, [](const GpuReading& reading) { return !reading.gpu.has_address(); }));
}

// Returns the GPU whose query hangs: 0000:4e:00 of "0000:4e:00 temperature".
std::string hung_gpu(const GpuTelemetry& telemetry) {
  const auto pci = parse_pci_address(telemetry.hung_at.substr(0, telemetry.hung_at.find(' ')));
  return pci ? pci->bus_id() : std::string();
}

bool any_gpu_is_dead(const GpuRuleInput& input) {
  return input.facts.pci_gpus && std::ranges::any_of(*input.facts.pci_gpus, &PciGpu::is_dead);
}

}  // namespace

void judge_lost(const VendorReading& report, const GpuRuleInput& input, FindingList& found) {
  for (const GpuReading& reading : report.gpus) {
    if (!reading.is_lost || !reading.gpu.has_address()) continue;
    const std::string bus_id = reading.gpu.pci.bus_id();
    const bool is_confirmed = kernel_says_gone(input, bus_id) || bus_says_gone(input, bus_id);
    add_suspicion({Code::kGpuLost, Code::kGpuLostUnconfirmed, bus_id,
                   "the driver says that GPU " + std::to_string(reading.gpu.index) + " is lost",
                   is_confirmed},
                  input, found);
    found.cannot_tell_anything(bus_id);
  }
}

void judge_undriven(const VendorReading& report, const GpuRuleInput& input, FindingList& found) {
  if (!input.facts.pci_gpus || report.state != LibraryState::kReady) return;
  const std::vector<PciGpu> unknown = unknown_to_driver(report, *input.facts.pci_gpus);
  // The driver reports them, but without an address.
  const bool are_nameless = unknown.size() <= count_without_address(report);
  for (const PciGpu& gpu : unknown) {
    found.cannot_tell_anything(gpu.bus_id);
    // A GPU that the bus has lost is the one that the driver has lost.
    if (are_nameless && !gpu.is_dead) continue;
    const bool is_confirmed = gpu.is_dead || kernel_says_gone(input, gpu.bus_id);
    add_suspicion({Code::kGpuUndriven, Code::kGpuUndrivenUnconfirmed, gpu.bus_id,
                   "on the PCI bus, but unknown to the driver", is_confirmed},
                  input, found);
  }
}

void judge_count(const VendorReading& report, const GpuRuleInput& input, FindingList& found) {
  // Until the machine's type is known, the findings of an earlier profile stay.
  if (!input.profile && input.snapshot.instance.source.empty()) {
    for (const Code code : {Code::kGpuMissing, Code::kGpuMissingUnconfirmed, Code::kGpuExtra}) {
      found.cannot_tell(code, "");
    }
  }
  const auto expects = expected_gpus(report.vendor, input);
  if (!expects) return;
  const std::size_t expected = expects->count;
  const auto on_bus = count_on_bus(input.facts, report.vendor);
  const auto driven = report.state == LibraryState::kReady ? std::optional(report.gpus.size())
                                                           : std::optional<std::size_t>();
  const std::string line = counts_text(driven, on_bus) + "; " + expects->says;
  if (driven.value_or(0) > expected) {
    if (expects->is_by_profile) found.add(Code::kGpuExtra, "", line);
    return;
  }
  const bool is_short_by_driver = driven && *driven < expected;
  const bool is_short_on_bus = on_bus && *on_bus < expected;
  // On the bus but not driven: judge_undriven() reports them one by one.
  const bool counts_driver_alone = expects->is_by_profile && input.settings.is_seed_profile;
  if (is_short_by_driver && on_bus && !is_short_on_bus && !counts_driver_alone) return;
  // If the driver has all of them but the bus shows fewer, the bus is not fully readable here: no
  // GPU is missing.
  if (!is_short_by_driver && (driven || !is_short_on_bus)) return;
  if (!expects->is_by_profile) {
    return found.add_as(Code::kGpuMissingUnconfirmed, Severity::kMonitor, "", line,
                        "no profile says how many there must be");
  }
  const std::set<std::string> known = bus_ids_of(report);
  const bool kernel_agrees = kernel_says_gone(
      input, [&](const std::string& bus_id) { return !bus_id.empty() && !known.contains(bus_id); });
  // Driver and bus may agree because this machine has never had as many as its profile says.
  const State& state = input.snapshot.state;
  const unsigned most = count_of(state.machine.most, report.vendor);
  const bool has_had_more = most > std::max(driven.value_or(0), on_bus.value_or(0));
  add_suspicion({Code::kGpuMissing, Code::kGpuMissingUnconfirmed, "",
                 line + (most == 0 ? "" : ", most seen on this machine: " + std::to_string(most)),
                 kernel_agrees || has_had_more || stands_above_monitor(state, Code::kGpuMissing)},
                input, found);
}

void judge_hung_gpu(const GpuReading& reading, const GpuRuleInput& input, FindingList& found) {
  const std::string bus_id = reading.gpu.pci.bus_id();
  const bool is_confirmed = bus_says_gone(input, bus_id) || kernel_says_stuck(input, bus_id);
  add_suspicion(
      {Code::kDriverHung, Code::kDriverHungUnconfirmed, bus_id, reading.fault, is_confirmed}, input,
      found);
  found.cannot_tell_anything(bus_id);
}

void judge_hang(const GpuRuleInput& input, FindingList& found) {
  const GpuTelemetry& telemetry = input.snapshot.telemetry;
  const std::string bus_id = hung_gpu(telemetry);
  const bool is_dead_on_bus =
      bus_id.empty() ? any_gpu_is_dead(input) : bus_says_gone(input, bus_id);
  const std::string where = telemetry.hung_at.empty() ? "" : " (at " + telemetry.hung_at + ")";
  add_suspicion({Code::kDriverHung, Code::kDriverHungUnconfirmed, "",
                 (telemetry.fault.empty() ? "no answer in time" : telemetry.fault) + where,
                 is_dead_on_bus || kernel_says_stuck(input, bus_id)},
                input, found);
}

}  // namespace gpuward::exporter
