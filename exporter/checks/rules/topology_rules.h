// What check 3 looks for, as rules on one reading of the GPUs: links, paths between them, the
// fabric. Used by TopologyCheck. Pure, but for the trend that the caller keeps.
#pragma once

#include <cstdint>
#include <string>

#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/rules/counter_trend.h"
#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {

// GPUs that say nothing of their links.
[[nodiscard]] std::size_t count_silent(const VendorReport& report);
// False where links are expected, and neither they nor the peers are told of.
[[nodiscard]] bool knows_nvlink(const VendorReport& report, const GpuRuleInput& input);
// Not one NVLink where the profile expects them. Needs two indications: links that say so, or
// peers.
void judge_nvlink_presence(const VendorReport& report, const GpuRuleInput& input,
                           FindingList& found);
// Each pair of GPUs of the peer-to-peer matrix, not only each GPU.
void judge_peers(const VendorReport& report, const GpuRuleInput& input, FindingList& found);
// Errors of the links since the last call; the first call only looks.
void judge_link_errors(const VendorReport& report, WallTime now, CounterTrend& trend,
                       FindingList& found);

struct FabricManagerFacts {
  bool has_nvswitch = false;
  bool can_see_processes = false;
  bool is_running = false;
};
void judge_fabric_manager(const FabricManagerFacts& facts, const VendorReport& report,
                          const GpuRuleInput& input, FindingList& found);

}  // namespace gpuward::exporter
