// Which NVLinks and which fabric this machine must have, and how many sources say so: the profile
// of its type, its PCI bus, what its GPUs have had before, the driver. Pure; used by the rules on
// links and by check 3. Above monitor only where two sources agree, and the driver's reading of a
// link that is off is none of them: bridges between two cards, MIG, and links that an operator has
// switched off are normal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {

struct NvlinkSources {
  bool profile = false;  // the instance type has NVLink between all GPUs
  bool bus = false;      // an NVSwitch is on the PCI bus
  bool memory = false;   // a GPU of this machine has had an active link, or was in a fabric
  bool driver = false;   // it says of a GPU that it supports a fabric

  [[nodiscard]] bool any() const { return profile || bus || memory || driver; }
  [[nodiscard]] bool do_two_agree() const {
    return static_cast<int>(profile) + static_cast<int>(bus) + static_cast<int>(memory) +
               static_cast<int>(driver) >=
           2;
  }
};
[[nodiscard]] NvlinkSources nvlink_sources(const GpuRuleInput& input);

// Each GPU is to reach each other over NVLink: by profile, NVSwitch, or a completed fabric.
[[nodiscard]] bool expects_all_joined(const GpuRuleInput& input);

// It says nothing of its links.
[[nodiscard]] inline bool is_silent(const GpuReading& gpu) {
  return gpu.is_lost || gpu.is_hung || !gpu.fault.empty();
}

// NVML_GPU_FABRIC_STATE_COMPLETED, by those GPUs that say it: one that is lost or hangs says
// nothing of the others' fabric. False where none says it.
[[nodiscard]] bool is_fabric_completed(const VendorReading& report);

// Why that link of the GPU, which is off, should be active; empty where nothing expects it.
[[nodiscard]] std::string why_expected(const GpuReading& reading, const Link& link,
                                       const GpuRuleInput& input);

// `code` as the table has it where two sources agree, else as monitor; the seed profile needs one.
void add_if_two_agree(Code code, const std::string& pci_bus_id, const std::string& line,
                      const GpuRuleInput& input, FindingList& found);

}  // namespace gpuward::exporter
