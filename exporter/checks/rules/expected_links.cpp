#include "exporter/checks/rules/expected_links.h"

#include <algorithm>
#include <map>
#include <set>

namespace gpuward::exporter {
namespace {

// Fewer GPUs that agree prove nothing: two that a bridge joins are normal beside a third.
constexpr std::size_t kLeastAlike = 3;

const VendorReading* nvidia_report(const GpuRuleInput& input) {
  const auto& report = input.snapshot.telemetry.report;
  return report ? report->find(Vendor::kNvidia) : nullptr;
}

std::size_t count_active(const GpuReading& gpu) {
  return static_cast<std::size_t>(std::ranges::count_if(
      gpu.links, [](const Link& link) { return link.active.value_or(false); }));
}

// All active links go to one device: a bridge between two cards, which other GPUs need not have.
bool is_bridged(const GpuReading& gpu) {
  std::set<std::string> remotes;
  for (const Link& link : gpu.links) {
    if (!link.active.value_or(false)) continue;
    if (link.remote_pci_bus_id.empty()) return false;
    remotes.insert(link.remote_pci_bus_id);
  }
  return remotes.size() == 1;
}

// Returns how many active links most GPUs of this model have; 0 if there is no such number.
std::size_t links_of_siblings(const GpuReading& reading, const GpuRuleInput& input) {
  const VendorReading* const report = nvidia_report(input);
  if (report == nullptr) return 0;
  std::map<std::size_t, std::size_t> gpus_with;  // by number of active links
  std::size_t of_model = 0;
  for (const GpuReading& gpu : report->gpus) {
    if (gpu.gpu.name != reading.gpu.name) continue;
    ++of_model;
    if (is_silent(gpu) || gpu.mig_enabled.value_or(false) || is_bridged(gpu)) continue;
    ++gpus_with[count_active(gpu)];
  }
  for (const auto& [links, gpus] : gpus_with) {
    if (gpus >= kLeastAlike && 2 * gpus > of_model) return links;
  }
  return 0;
}

bool has_fabric(const GpuReading& gpu) {
  return gpu.fabric.state && *gpu.fabric.state != kFabricNotSupported;
}

}  // namespace

NvlinkSources nvlink_sources(const GpuRuleInput& input) {
  NvlinkSources sources;
  sources.profile = input.profile && input.profile->expects_nvlink;
  sources.bus = input.facts.has_nvswitch;
  const VendorReading* const report = nvidia_report(input);
  if (report == nullptr) return sources;
  const KnownMachine& known = input.snapshot.state.machine;
  sources.memory = std::ranges::any_of(report->gpus, [&](const GpuReading& reading) {
    return known.links_of(reading.gpu) != nullptr;
  });
  sources.driver = std::ranges::any_of(report->gpus, has_fabric);
  return sources;
}

bool is_fabric_completed(const VendorReading& report) {
  const auto says = [](const GpuReading& gpu) { return gpu.fabric.state.has_value(); };
  return std::ranges::any_of(report.gpus, says) &&
         std::ranges::all_of(report.gpus, [&](const GpuReading& gpu) {
           return gpu.fabric.state == kFabricCompleted || (!says(gpu) && is_silent(gpu));
         });
}

bool expects_all_joined(const GpuRuleInput& input) {
  const NvlinkSources sources = nvlink_sources(input);
  const VendorReading* const report = nvidia_report(input);
  return sources.profile || sources.bus || (report != nullptr && is_fabric_completed(*report));
}

std::string why_expected(const GpuReading& reading, const Link& link, const GpuRuleInput& input) {
  if (input.profile && input.profile->expects_nvlink) return input.profile->type + " has NVLink";
  const State& state = input.snapshot.state;
  const KnownLinks* const known = state.machine.links_of(reading.gpu);
  constexpr std::uint32_t kBits = 64;
  if (known != nullptr && known->boot_id == state.boot_id && link.number < kBits &&
      ((known->active >> link.number) & 1U) != 0) {
    return "they were active earlier in this boot";
  }
  const std::size_t siblings = links_of_siblings(reading, input);
  if (siblings <= count_active(reading)) return {};
  return "most GPUs of this model on this node have " + std::to_string(siblings) +
         " active NVLinks";
}

void add_as_profile_says(Code code, const std::string& pci_bus_id, const std::string& line,
                         const GpuRuleInput& input, FindingList& found) {
  if (input.settings.is_seed_profile || nvlink_sources(input).does_profile_agree())
    return found.add(code, pci_bus_id, line);
  found.add_as(
      code, Severity::kMonitor, pci_bus_id, line,
      "the profile and a second source do not both say that this machine must have NVLink");
}

}  // namespace gpuward::exporter
