// Judges this node's GPUs by the driver, the kernel log and the PCI bus. Pure: time and all
// readings are parameters. Run after each GPU reading (GpuEvaluator) and by check 0.
//
// A wrong remediation is worse than none: a single source for a GPU that cannot be reached gives at
// most monitor, and so does anything about the driver's own state.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "exporter/checks/check/check.h"
#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/rules/node_facts.h"

namespace gpuward::exporter {

struct GpuRuleInput {
  const Snapshot& snapshot;
  const CheckSettings& settings;
  const std::optional<InstanceProfile>& profile;
  const NodeFacts& facts;
  WallTime now;
  // Returns how many PCIe packets a minute this GPU (by bus id) had to resend; nullopt if that is
  // not known yet. May be empty.
  std::function<std::optional<double>(const std::string& pci_bus_id)> replays_per_minute = nullptr;
};

// Returns whether a supported driver should report GPUs of this vendor: the PCI bus has some, or
// another source expects more than the bus has.
[[nodiscard]] bool expects_gpus(Vendor vendor, const GpuRuleInput& input);

// kSkipped: there is no GPU here, and none is expected. kError: some or all could not be read.
[[nodiscard]] CheckOutcome judge_gpus(const GpuRuleInput& input);

// The rules behind judge_gpus(), one file for each theme: gpu_rules_*.cpp. Each judges its part of
// the readings and adds its findings. None keeps a state or does I/O.

// Rules for one GPU that the driver reports.
void judge_memory(const GpuReading& reading, const GpuRuleInput& input, FindingList& found);
void judge_state(const GpuReading& reading, FindingList& found);
void judge_slowdown(const GpuReading& reading, FindingList& found);
void judge_pcie(const GpuReading& reading, const GpuRuleInput& input, FindingList& found);
void judge_links(const GpuReading& reading, const GpuRuleInput& input, FindingList& found);
void judge_fabric(const GpuReading& reading, const GpuRuleInput& input, FindingList& found);

// Rules for the node as a whole. `report` is the newest one of the vendor.
void judge_lost(const VendorReading& report, const GpuRuleInput& input, FindingList& found);
void judge_undriven(const VendorReading& report, const GpuRuleInput& input, FindingList& found);
void judge_count(const VendorReading& report, const GpuRuleInput& input, FindingList& found);
// A GPU at an address that does not answer while the others do, and a driver that does not answer.
void judge_hung_gpu(const GpuReading& reading, const GpuRuleInput& input, FindingList& found);
void judge_hang(const GpuRuleInput& input, FindingList& found);

}  // namespace gpuward::exporter
