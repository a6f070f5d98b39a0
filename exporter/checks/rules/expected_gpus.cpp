#include "exporter/checks/rules/expected_gpus.h"

#include <algorithm>

namespace gpuward::exporter {
namespace {

constexpr Vendor other_than(Vendor vendor) {
  return vendor == Vendor::kAmd ? Vendor::kNvidia : Vendor::kAmd;
}

bool has_gpus(Vendor vendor, const GpuRuleInput& input) {
  const auto& report = input.snapshot.telemetry.report;
  const VendorReading* const known = report ? report->find(vendor) : nullptr;
  return (known != nullptr && !known->gpus.empty()) || count_for_driver(input.facts, vendor) > 0;
}

// Returns the vendor whose GPUs the profile counts.
Vendor profile_vendor(const GpuRuleInput& input) {
  const bool is_amd = has_gpus(Vendor::kAmd, input) && !has_gpus(Vendor::kNvidia, input);
  return is_amd ? Vendor::kAmd : Vendor::kNvidia;
}

bool is_for_driver(const PciGpu& gpu, Vendor vendor) {
  return gpu.vendor == vendor && !gpu.is_given_away();
}

// True for processor graphics or a display card beside GPUs of another vendor.
bool has_only_displays(Vendor vendor, const GpuRuleInput& input) {
  return has_gpus(other_than(vendor), input) &&
         std::ranges::all_of(*input.facts.pci_gpus, [&](const PciGpu& gpu) {
           return !is_for_driver(gpu, vendor) || gpu.is_display;
         });
}

}  // namespace

std::optional<std::size_t> count_on_bus(const NodeFacts& facts, Vendor vendor) {
  if (!facts.pci_gpus) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::count(*facts.pci_gpus, vendor, &PciGpu::vendor));
}

std::size_t count_for_driver(const NodeFacts& facts, Vendor vendor) {
  if (!facts.pci_gpus) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(
      *facts.pci_gpus, [&](const PciGpu& gpu) { return is_for_driver(gpu, vendor); }));
}

std::optional<ExpectedGpus> expected_gpus(Vendor vendor, const GpuRuleInput& input) {
  if (input.profile && vendor == profile_vendor(input)) {
    const unsigned gpus = input.profile->gpus;
    if (gpus == 0) return std::nullopt;
    return ExpectedGpus{gpus, input.profile->type + " has " + std::to_string(gpus), true};
  }
  const KnownMachine& known = input.snapshot.state.machine;
  const unsigned most = count_of(known.most, vendor), labelled = count_of(known.labelled, vendor);
  if (most == 0 && labelled == 0) return std::nullopt;
  if (labelled > most) {
    return ExpectedGpus{labelled, "the node's labels say " + std::to_string(labelled), false};
  }
  return ExpectedGpus{most, "most seen on this machine: " + std::to_string(most), false};
}

bool expects_gpus(Vendor vendor, const GpuRuleInput& input) {
  const std::size_t for_driver = count_for_driver(input.facts, vendor);
  if (for_driver > 0) return !has_only_displays(vendor, input);
  const auto expected = expected_gpus(vendor, input);
  // If all GPUs are given to virtual machines, a driver has none to report.
  return expected && count_on_bus(input.facts, vendor).value_or(0) < expected->count;
}

}  // namespace gpuward::exporter
