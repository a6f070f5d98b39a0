// The rules behind judge_gpus(), one file a theme. Each looks at its part of the readings and adds
// what it finds; none has a memory or asks anybody.
#pragma once

#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {

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
