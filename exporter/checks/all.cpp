#include <algorithm>
#include <array>

#include "exporter/checks/check/check.h"
#include "exporter/checks/dcgm/dcgm_check.h"
#include "exporter/checks/efa/efa_enumeration_check.h"
#include "exporter/checks/efa/efa_loopback_check.h"
#include "exporter/checks/nccl/nccl_check.h"
#include "exporter/checks/programs/program_check.h"
#include "exporter/checks/rules/nvidia_smi_check.h"
#include "exporter/checks/rules/topology_check.h"

namespace gpuward::exporter {

std::span<const CheckEntry> all_checks() {
  static const std::array kChecks{
      nvidia_smi_entry(),       // 0
      dcgm_level_2_entry(),     // 1
      efa_enumeration_entry(),  // 2
      topology_entry(),         // 3
      dcgm_level_4_entry(),     // 4
      nccl_entry(),             // 5
      efa_loopback_entry(),     // 6
  };
  return kChecks;
}

const CheckEntry& check_numbered(int number) {
  return *std::ranges::find(all_checks(), number, &CheckEntry::number);
}

std::vector<CheckEntry> with_programs(std::span<const CheckEntry> checks,
                                      const CheckSettings& settings) {
  std::vector<CheckEntry> all(checks.begin(), checks.end());
  for (const ProgramSettings& program : settings.programs) all.push_back(program_entry(program));
  return all;
}

}  // namespace gpuward::exporter
