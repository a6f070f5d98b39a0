// Which NVLinks and which fabric this machine must have, and by which sources: the profile of its
// type, its PCI bus, its own history, the driver. Pure; used by the rules on links and by check 3.
// A finding is above monitor only if the profile and another source agree. Without a profile, bus,
// history and driver may all be right and the machine healthy: a host that lends GPUs to virtual
// machines has switches, and GPUs that join no fabric until a partition is activated. A link that
// is off proves nothing by itself: bridges between two cards, MIG, and links that an operator has
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
  bool bus = false;      // an NVSwitch, or a device that manages one, is on the PCI bus
  bool memory = false;   // a GPU of this machine has had an active link, or was in a fabric
  bool driver = false;   // the driver says of a GPU that it supports a fabric

  [[nodiscard]] bool any() const { return profile || bus || memory || driver; }
  [[nodiscard]] bool does_profile_agree() const { return profile && (bus || memory || driver); }
};
[[nodiscard]] NvlinkSources nvlink_sources(const GpuRuleInput& input);

// Returns true if each GPU must reach each other over NVLink, by the profile, an NVSwitch or a
// completed fabric.
[[nodiscard]] bool expects_all_joined(const GpuRuleInput& input);

// Returns true if the driver reports nothing about the links of this GPU.
[[nodiscard]] inline bool is_silent(const GpuReading& gpu) {
  return gpu.is_lost || gpu.is_hung || !gpu.fault.empty();
}

// Returns true if all GPUs that report their fabric have NVML_GPU_FABRIC_STATE_COMPLETED. A GPU
// that is lost or hangs does not count against it. False if no GPU reports its fabric.
[[nodiscard]] bool is_fabric_completed(const VendorReading& report);

// Returns why that link of the GPU, which is off, should be active; empty if no source expects it.
[[nodiscard]] std::string why_expected(const GpuReading& reading, const Link& link,
                                       const GpuRuleInput& input);

// Adds `code` with its own severity if the profile and another source agree, else with monitor. The
// seed profile needs no other source.
void add_as_profile_says(Code code, const std::string& pci_bus_id, const std::string& line,
                         const GpuRuleInput& input, FindingList& found);

}  // namespace gpuward::exporter
