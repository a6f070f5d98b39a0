#include "exporter/checks/rules/second_source.h"

#include <algorithm>
#include <array>
#include <span>

namespace gpuward::exporter {
namespace {

using std::string_view_literals::operator""sv;

struct Telltales {
  std::span<const std::string_view> xids, checks;
};
// Xid catalogue: fallen off the bus.
constexpr std::array kGoneXids{"79"sv};
constexpr std::array kGoneChecks{"rm_init"sv, "amd_lost"sv};
constexpr Telltales kGone{kGoneXids, kGoneChecks};
// Xid catalogue: the GPU stopped processing, PMU halt, fallen off the bus, GSP RPC timeout, GSP
// error, GPU initialisation error, fatal timeout.
constexpr std::array kStuckXids{"46"sv, "62"sv, "79"sv, "119"sv, "120"sv, "143"sv, "158"sv};
constexpr std::array kStuckChecks{"rm_init"sv, "amd_hang"sv, "amd_lost"sv};
constexpr Telltales kStuck{kStuckXids, kStuckChecks};

bool has(std::span<const std::string_view> all, std::string_view one) {
  return std::ranges::find(all, one) != all.end();
}

bool is_of_this_boot(const Finding& finding, const GpuRuleInput& input) {
  if (finding.is_of_earlier_boot) return false;
  const std::string& boot_id = input.snapshot.state.boot_id;
  if (!boot_id.empty() && finding.first_boot_id == boot_id) return true;
  return input.facts.since_boot && finding.last_seen >= input.now - *input.facts.since_boot;
}

// A line that user space wrote is not a second source, and neither is an event of the library that
// says the GPU is lost.
bool kernel_has(const GpuRuleInput& input, const Telltales& telltales,
                const std::function<bool(const std::string&)>& is_meant) {
  return std::ranges::any_of(input.snapshot.state.findings, [&](const auto& entry) {
    const Finding& finding = entry.second;
    const bool is_kernels_word =
        finding.evidence == Evidence::kKernel && !finding.is_by_library_alone;
    // An old line of this boot is a second source for a fault that the driver reports now.
    const bool says_something = std::max(finding.severity, finding.history) != Severity::kNone;
    if (!is_kernels_word || !says_something) return false;
    const bool says_so = finding.check == "xid" ? has(telltales.xids, finding.code)
                                                : has(telltales.checks, finding.check);
    return says_so && is_meant(finding.pci_bus_id) && is_of_this_boot(finding, input);
  });
}

bool was_found_in_an_earlier_boot(const Suspicion& suspicion, const GpuRuleInput& input) {
  const State& state = input.snapshot.state;
  const auto known =
      state.findings.find({std::string(kGpuCheck), std::string(name_of(suspicion.code)),
                           suspicion.pci_bus_id, Evidence::kMeasured});
  return known != state.findings.end() && !known->second.first_boot_id.empty() &&
         known->second.first_boot_id != state.boot_id;
}

}  // namespace

bool kernel_says_gone(const GpuRuleInput& input, std::string_view pci_bus_id) {
  return kernel_says_gone(input, [&](const std::string& other) { return other == pci_bus_id; });
}

bool kernel_says_gone(const GpuRuleInput& input,
                      const std::function<bool(const std::string&)>& is_meant) {
  return kernel_has(input, kGone, is_meant);
}

bool kernel_says_stuck(const GpuRuleInput& input, std::string_view pci_bus_id) {
  return kernel_has(input, kStuck, [&](const std::string& other) {
    return pci_bus_id.empty() || other == pci_bus_id;
  });
}

bool bus_says_gone(const GpuRuleInput& input, const std::string& pci_bus_id) {
  if (!input.facts.pci_gpus) return false;
  const PciGpu* const gpu = input.facts.find(pci_bus_id);
  return gpu == nullptr || gpu->is_dead;
}

bool is_settled(const GpuRuleInput& input) {
  const auto least = input.settings.settling_time;
  if (!input.facts.since_boot || *input.facts.since_boot < least) return false;
  return !input.facts.since_driver_load || *input.facts.since_driver_load >= least;
}

void add_suspicion(const Suspicion& suspicion, const GpuRuleInput& input, FindingList& found) {
  found.suspect({std::string(name_of(suspicion.code)), std::string(name_of(suspicion.unconfirmed)),
                 suspicion.pci_bus_id});
  const bool is_back = was_found_in_an_earlier_boot(suspicion, input);
  if (input.settings.is_seed_profile || (!suspicion.is_confirmed && !is_back)) {
    found.add(suspicion.is_confirmed ? suspicion.code : suspicion.unconfirmed, suspicion.pci_bus_id,
              suspicion.line);
    return;
  }
  // Keeps the confirmed code, so that the finding of an earlier boot is not lost.
  if (!is_settled(input)) {
    found.add_too_soon(suspicion.code, suspicion.pci_bus_id, suspicion.line);
  } else if (!suspicion.is_confirmed) {
    found.add_as(suspicion.code, Severity::kMonitor, suspicion.pci_bus_id, suspicion.line,
                 "seen before the reboot; no second source agrees yet");
  } else if (is_back) {
    found.add_as(suspicion.code, Severity::kIsolate, suspicion.pci_bus_id, suspicion.line,
                 "a reboot did not fix the problem");
  } else {
    found.add(suspicion.code, suspicion.pci_bus_id, suspicion.line);
  }
}

}  // namespace gpuward::exporter
