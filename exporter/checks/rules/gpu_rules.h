// Judges what the driver, the kernel log and the PCI bus say of this node's GPUs. Pure: time and
// all readings come in. Run after each GPU reading (GpuEvaluator) and by check 0.
//
// A wrong remediation is worse than none: what a single source says about a GPU that cannot be
// reached is never above monitor, and neither is anything about the driver's own state.
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
  // How many PCIe packets a minute this GPU (by bus id) had to send again; nullopt where nobody
  // knows yet, or nobody asks.
  std::function<std::optional<double>(const std::string& pci_bus_id)> replays_per_minute = nullptr;
};

// Whether there should be GPUs of this vendor that a driver of ours speaks of: the PCI bus or the
// profile has some.
[[nodiscard]] bool expects_gpus(Vendor vendor, const GpuRuleInput& input);

// kSkipped: there is no GPU here, and none is expected. kError: some or all could not be looked at.
[[nodiscard]] CheckOutcome judge_gpus(const GpuRuleInput& input);

// The rules behind it, one file a theme: gpu_rules_*.cpp. Each looks at its part of the readings
// and adds what it finds; none has a memory or asks anybody.

// One GPU that the driver speaks of.
void judge_memory(const GpuReading& reading, const GpuRuleInput& input, FindingList& found);
void judge_state(const GpuReading& reading, FindingList& found);
void judge_slowdown(const GpuReading& reading, FindingList& found);
void judge_pcie(const GpuReading& reading, const GpuRuleInput& input, FindingList& found);
void judge_links(const GpuReading& reading, const GpuRuleInput& input, FindingList& found);
void judge_fabric(const GpuReading& reading, const GpuRuleInput& input, FindingList& found);

// The node as a whole. `report` is the newest one of the vendor.
void judge_lost(const VendorReading& report, const GpuRuleInput& input, FindingList& found);
void judge_undriven(const VendorReading& report, const GpuRuleInput& input, FindingList& found);
void judge_count(const VendorReading& report, const GpuRuleInput& input, FindingList& found);
// A GPU at an address that does not answer while the others do; and the driver as a whole.
void judge_hung_gpu(const GpuReading& reading, const GpuRuleInput& input, FindingList& found);
void judge_hang(const GpuRuleInput& input, FindingList& found);

}  // namespace gpuward::exporter
